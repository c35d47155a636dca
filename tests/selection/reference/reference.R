# Projections of posterior draws by projpred, without its ridge penalty. Arguments: folder, family.
suppressMessages(library(projpred))
arguments <- commandArgs(TRUE)
folder <- arguments[1]; family <- arguments[2]
read <- function(name, what = "double") readBin(file.path(folder, name), what, 1e9)
write <- function(values, name) writeBin(as.double(values), file.path(folder, name))
size <- read("size", "integer")  # samples, features, draws
X <- matrix(read("x"), size[1], size[2]); colnames(X) <- paste0("x", seq_len(size[2]))
data <- data.frame(y = read("y"), X)
draws <- list(predictor = matrix(read("predictor"), size[1], size[3]))
model_data <- function(object, newdata, wrhs = NULL, orhs = NULL, extract_y = TRUE) {
  rows <- if (is.null(newdata)) data else newdata
  list(y = if (extract_y) rows$y, weights = rep(1, nrow(rows)), offset = rep(0, nrow(rows)))
}
reference <- init_refmodel(
  draws, data, reformulate(colnames(X), "y"), if (family == "gaussian") gaussian() else binomial(),
  ref_predfun = function(fit, newdata = NULL) fit$predictor, extract_model_data = model_data,
  dis = if (family == "gaussian") read("sigma"), cvfun = function(folds) stop("not used"))
for (count in c(0, 2, size[2])) {
  terms <- if (count) colnames(X)[seq_len(count)] else character()
  found <- project(reference, solution_terms = terms, ndraws = size[3], regul = 0,
                   thresh = 1e-14, qa_updates_max = 1000, seed = 1)
  write(t(as.matrix(found)[, seq_len(count + 1), drop = FALSE]), paste0("coef", count))
  if (family == "gaussian") write(found$dis, paste0("sigma", count))
}
