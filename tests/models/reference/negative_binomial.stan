// Negative-binomial regression with log link under the regularised horseshoe, not centred. The variance is
// mu + mu^2 / dispersion.
data {
  int<lower=1> n;
  int<lower=1> K;
  matrix[n, K] Z;
  array[n] int<lower=0> y;
  vector<lower=0>[n] weight;
  vector[n] shift;  // offset of the linear predictor (the word is reserved)
  vector<lower=0>[K] fixed_scale;  // 0: the column is under the horseshoe
  real<lower=0> tau0;
  real<lower=0> slab_df;
  real<lower=0> slab_scale;
  real<lower=0> intercept_scale;
}
parameters {
  real intercept;
  real log_dispersion;
  vector[K] z;
  vector<lower=0>[K] lambda;
  real<lower=0> tau_unit;  // tau / tau0
  real<lower=0> c2_unit;   // c^2 / s^2
}
transformed parameters {
  real dispersion = exp(log_dispersion);
  real tau = tau0 * tau_unit;
  real c2 = square(slab_scale) * c2_unit;
  vector[K] coef = z .* (tau * lambda) ./ sqrt(1 + square(tau * lambda) / c2);
  for (j in 1 : K) if (fixed_scale[j] > 0) coef[j] = fixed_scale[j] * z[j];
}
model {
  vector[n] eta = intercept + shift + Z * coef;
  intercept ~ normal(0, intercept_scale);
  log_dispersion ~ normal(0, 2);
  z ~ std_normal();
  lambda ~ cauchy(0, 1);
  tau_unit ~ cauchy(0, 1);
  c2_unit ~ inv_gamma(0.5 * slab_df, 0.5 * slab_df);
  for (i in 1 : n) target += weight[i] * neg_binomial_2_log_lpmf(y[i] | eta[i], dispersion);
}
