// Softmax regression under the regularised horseshoe, not centred: every class has its intercept and coefficients.
data {
  int<lower=1> n;
  int<lower=1> K;
  int<lower=2> H;
  matrix[n, K] Z;
  array[n] int<lower=1, upper=H> y;
  real<lower=0> tau0;
  real<lower=0> slab_df;
  real<lower=0> slab_scale;
  real<lower=0> intercept_scale;
}
parameters {
  vector[H] intercept;
  matrix[K, H] z;
  matrix<lower=0>[K, H] lambda;
  real<lower=0> tau_unit;  // tau / tau0
  real<lower=0> c2_unit;   // c^2 / s^2
}
transformed parameters {
  real tau = tau0 * tau_unit;
  real c2 = square(slab_scale) * c2_unit;
  matrix[K, H] coef = z .* (tau * lambda) ./ sqrt(1 + square(tau * lambda) / c2);
}
model {
  intercept ~ normal(0, intercept_scale);
  to_vector(z) ~ std_normal();
  to_vector(lambda) ~ cauchy(0, 1);
  tau_unit ~ cauchy(0, 1);
  c2_unit ~ inv_gamma(0.5 * slab_df, 0.5 * slab_df);
  y ~ categorical_logit_glm(Z, intercept, coef);
}
