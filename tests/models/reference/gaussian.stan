// Gaussian regression under the regularised horseshoe, not centred; tau is scaled by sigma, p(sigma) = 1 / sigma.
data {
  int<lower=1> n;
  int<lower=1> K;
  matrix[n, K] Z;
  vector[n] y;
  real<lower=0> tau0;  // in units of sigma
  real<lower=0> slab_df;
  real<lower=0> slab_scale;
  real<lower=0> intercept_scale;
}
parameters {
  real intercept;
  vector[K] z;
  vector<lower=0>[K] lambda;
  real<lower=0> tau_unit;  // tau / (tau0 sigma)
  real<lower=0> c2_unit;   // c^2 / s^2
  real log_sigma;          // flat
}
transformed parameters {
  real sigma = exp(log_sigma);
  real tau = tau0 * sigma * tau_unit;
  real c2 = square(slab_scale) * c2_unit;
  vector[K] coef = z .* (tau * lambda) ./ sqrt(1 + square(tau * lambda) / c2);
}
model {
  intercept ~ normal(0, intercept_scale);
  z ~ std_normal();
  lambda ~ cauchy(0, 1);
  tau_unit ~ cauchy(0, 1);
  c2_unit ~ inv_gamma(0.5 * slab_df, 0.5 * slab_df);
  y ~ normal_id_glm(Z, intercept, coef, sigma);
}
