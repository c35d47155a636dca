// Cox regression (partial likelihood with Efron's ties) under the regularised horseshoe, not centred.
// The samples are sorted by falling time and, among equal times, events come last.
functions {
  real efron(vector eta, array[] int last, array[] int deaths) {
    real largest = max(eta);
    vector[num_elements(eta)] risk = exp(eta - largest);
    vector[num_elements(eta)] at_risk = cumulative_sum(risk);
    real value = 0;
    for (g in 1 : size(last)) {
      int d = deaths[g];
      real own = sum(segment(risk, last[g] - d + 1, d));
      value += sum(segment(eta, last[g] - d + 1, d)) - d * largest;
      for (k in 0 : d - 1) value -= log(at_risk[last[g]] - own * k / d);
    }
    return value;
  }
}
data {
  int<lower=1> n;
  int<lower=1> K;
  int<lower=1> G;                     // distinct times of events
  matrix[n, K] Z;
  array[G] int<lower=1, upper=n> last;  // last sample at risk, which is the last event of that time
  array[G] int<lower=1> deaths;
  vector[n] shift;  // offset of the linear predictor (the word is reserved)
  vector<lower=0>[K] fixed_scale;  // 0: the column is under the horseshoe
  real<lower=0> tau0;
  real<lower=0> slab_df;
  real<lower=0> slab_scale;
}
parameters {
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
  z ~ std_normal();
  lambda ~ cauchy(0, 1);
  tau_unit ~ cauchy(0, 1);
  c2_unit ~ inv_gamma(0.5 * slab_df, 0.5 * slab_df);
  target += efron(Z * coef + shift, last, deaths);
}
