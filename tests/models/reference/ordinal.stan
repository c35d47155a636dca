// Cumulative logit regression of ordered classes under the regularised horseshoe, not centred. The
// thresholds are normal each, in increasing order.
data {
  int<lower=1> n;
  int<lower=1> K;
  int<lower=3> H;
  matrix[n, K] Z;
  array[n] int<lower=1, upper=H> y;
  vector<lower=0>[n] weight;
  vector[n] shift;  // offset of the linear predictor (the word is reserved)
  vector<lower=0>[K] fixed_scale;  // 0: the column is under the horseshoe
  real<lower=0> tau0;
  real<lower=0> slab_df;
  real<lower=0> slab_scale;
  real<lower=0> intercept_scale;
}
parameters {
  ordered[H - 1] thresholds;
  vector[K] z;
  vector<lower=0>[K] lambda;
  real<lower=0> tau_unit;  // tau / tau0
  real<lower=0> c2_unit;   // c^2 / s^2
}
transformed parameters {
  real tau = tau0 * tau_unit;
  real c2 = square(slab_scale) * c2_unit;
  vector[K] coef = z .* (tau * lambda) ./ sqrt(1 + square(tau * lambda) / c2);
  for (j in 1 : K) if (fixed_scale[j] > 0) coef[j] = fixed_scale[j] * z[j];
}
model {
  vector[n] eta = shift + Z * coef;
  thresholds ~ normal(0, intercept_scale);
  z ~ std_normal();
  lambda ~ cauchy(0, 1);
  tau_unit ~ cauchy(0, 1);
  c2_unit ~ inv_gamma(0.5 * slab_df, 0.5 * slab_df);
  for (i in 1 : n) target += weight[i] * ordered_logistic_lpmf(y[i] | eta[i], thresholds);
}
