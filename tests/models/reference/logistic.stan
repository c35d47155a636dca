// Logistic regression under the regularised horseshoe, not centred.
data {
  int<lower=1> n;
  int<lower=1> K;
  matrix[n, K] Z;
  array[n] int<lower=0, upper=1> y;
  real<lower=0> tau0;
  real<lower=0> slab_df;
  real<lower=0> slab_scale;
  real<lower=0> intercept_scale;
}
parameters {
  real intercept;
  vector[K] z;
  vector<lower=0>[K] lambda;
  real<lower=0> tau_unit;  // tau / tau0
  real<lower=0> c2_unit;   // c^2 / s^2
}
transformed parameters {
  real tau = tau0 * tau_unit;
  real c2 = square(slab_scale) * c2_unit;
  vector[K] coef = z .* (tau * lambda) ./ sqrt(1 + square(tau * lambda) / c2);
}
model {
  intercept ~ normal(0, intercept_scale);
  z ~ std_normal();
  lambda ~ cauchy(0, 1);
  tau_unit ~ cauchy(0, 1);
  c2_unit ~ inv_gamma(0.5 * slab_df, 0.5 * slab_df);
  y ~ bernoulli_logit_glm(Z, intercept, coef);
}
