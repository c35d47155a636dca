# Validated selection by projpred, from posterior draws of a reference that was refitted in each fold.
# Arguments: folder, method ("forward" or "L1"), largest size. Times include search and validation, not the reference.
suppressMessages(library(projpred))
arguments <- commandArgs(TRUE)
folder <- arguments[1]; method <- arguments[2]; largest <- as.integer(arguments[3])
read <- function(name, what = "double") readBin(file.path(folder, name), what, 1e9)
size <- read("size", "integer")  # samples, features, draws
family <- readLines(file.path(folder, "family"))
X <- matrix(read("x"), size[1], size[2]); colnames(X) <- paste0("x", seq_len(size[2]))
data <- data.frame(y = read("y"), sample = seq_len(size[1]), X)
folds <- read("folds", "integer") + 1L
fit_of <- function(name) list(
  name = name, predictor = matrix(read(paste0("predictor-", name)), size[1], size[3]),
  sigma = if (family == "gaussian") read(paste0("sigma-", name)))
# Draws are stored for all samples, so that a fit can predict those that its fold held out.
predict_draws <- function(fit, newdata = NULL) {
  rows <- if (!is.null(newdata)) newdata$sample else if (is.null(fit$omitted)) data$sample else data$sample[-fit$omitted]
  fit$predictor[rows, , drop = FALSE]
}
model_data <- function(object, newdata, wrhs = NULL, orhs = NULL, extract_y = TRUE) {
  rows <- if (!is.null(newdata)) newdata else if (is.null(object$omitted)) data else data[-object$omitted, ]
  list(y = if (extract_y) rows$y, weights = rep(1, nrow(rows)), offset = rep(0, nrow(rows)))
}
build <- function(fit) init_refmodel(
  fit, if (is.null(fit$omitted)) data else data[-fit$omitted, ], reformulate(colnames(X), "y"),
  if (family == "gaussian") gaussian() else binomial(), ref_predfun = predict_draws,
  extract_model_data = model_data, dis = fit$sigma, cvfits = if (is.null(fit$omitted)) fold_fits,
  cvfun = function(folds) stop("every fold has its fit"), cvrefbuilder = build)
fold_fits <- structure(list(fits = lapply(as.character(seq_len(max(folds)) - 1L), fit_of)), K = max(folds), folds = folds)
reference <- build(fit_of("all"))
elapsed <- system.time(selection <- cv_varsel(
  reference, method = method, cv_method = "kfold", nterms_max = largest, nclusters = 20, ndraws_pred = 400,
  verbose = FALSE, seed = 1))
path <- summary(selection, stats = "mlpd", type = c("mean", "se", "diff", "diff.se"))$selection
suggested <- suggest_size(selection)
write.csv(path, file.path(folder, paste0("path-", method, ".csv")), row.names = FALSE)
cat(sum(elapsed[1:2]), elapsed[3], suggested, "\n")
