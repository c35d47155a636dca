# One cross-validated path by glmnet, solved tightly; for Cox regression only the path. Arguments: folder, family, alpha.
suppressMessages({library(glmnet); library(Matrix); library(survival)})
arguments <- commandArgs(TRUE)
folder <- arguments[1]; family <- arguments[2]; alpha <- as.numeric(arguments[3])
read <- function(name, what = "double") readBin(file.path(folder, name), what, 1e9)
write <- function(values, name) writeBin(as.double(values), file.path(folder, name))
size <- read("size", "integer")
if (file.exists(file.path(folder, "indices"))) {
  X <- sparseMatrix(i = read("indices", "integer"), p = read("indptr", "integer"), x = read("x"),
                    dims = size, index1 = FALSE)
} else X <- matrix(read("x"), size[1], size[2])
y <- read("y"); foldid <- read("folds", "integer") + 1L
if (family == "cox") y <- Surv(y, read("event"))
tight <- list(family = family, alpha = alpha, thresh = 1e-14, maxit = 1e8)
path <- suppressWarnings(do.call(glmnet, c(list(X, y), tight)))
if (family == "cox") fit <- path else {
  # By default the folds follow sequences of their own and are interpolated; with lambda given they follow this one.
  cv <- suppressWarnings(do.call(cv.glmnet, c(list(X, y, foldid = foldid, lambda = path$lambda), tight)))
  fit <- cv$glmnet.fit
  write(cv$cvm, "mean"); write(cv$cvsd, "error"); write(c(cv$lambda.min, cv$lambda.1se), "choices")
}
chosen <- unique(pmin(c(10, 30, 60, 90), length(fit$lambda)))
write(fit$lambda, "lambdas"); write(fit$dev.ratio, "explained"); write(chosen - 1, "positions")
beta <- if (family == "multinomial") fit$beta else list(fit$beta)
write(unlist(lapply(beta, function(b) as.matrix(b)[, chosen])), "coef")  # feature fastest, position, output
if (family != "cox")
  write(if (family == "multinomial") t(fit$a0[, chosen]) else fit$a0[chosen], "intercept")  # position, output
