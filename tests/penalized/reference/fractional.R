# One path by glmnet with fractional targets, an offset and penalty factors, solved tightly.
# Arguments: folder, family, number of penalties, ratio of the last to the first.
suppressMessages(library(glmnet))
arguments <- commandArgs(TRUE)
folder <- arguments[1]; family <- arguments[2]
read <- function(name, what = "double") readBin(file.path(folder, name), what, 1e9)
write <- function(values, name) writeBin(as.double(values), file.path(folder, name))
size <- read("size", "integer")  # samples, features, outputs
X <- matrix(read("x"), size[1], size[2]); y <- matrix(read("y"), size[1], size[3])
if (family == "binomial") y <- cbind(1 - y, y)
offset <- if (file.exists(file.path(folder, "offset"))) read("offset")
fit <- suppressWarnings(glmnet(X, if (ncol(y) == 1) y[, 1] else y, family, offset = offset,
                               penalty.factor = read("factors"), nlambda = as.integer(arguments[3]),
                               lambda.min.ratio = as.numeric(arguments[4]), thresh = 1e-15, maxit = 1e8))
chosen <- unique(pmin(c(1, 10, 30, 50), length(fit$lambda)))
write(fit$lambda, "lambdas"); write(chosen - 1, "positions")
beta <- if (family == "multinomial") fit$beta else list(fit$beta)
write(unlist(lapply(beta, function(b) as.matrix(b)[, chosen])), "coef")  # feature fastest, position, output
write(if (family == "multinomial") t(fit$a0[, chosen]) else fit$a0[chosen], "intercept")  # position, output
