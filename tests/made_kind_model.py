"""The model of the kind of target in `made_kind`, which is imported after that is listed."""

from ispca.models import HorseshoeRegressor
from ispca.targets.target_and_prediction_checks import numeric_target
from made_kind import DOSE, DOSES


class HorseshoeDose(HorseshoeRegressor):
    """Regression of doses."""

    target = DOSE

    def _fit(self, X, y, sample_weight, offset=None):
        data = self._check_training(X, y, sample_weight)
        self._sample(DOSES, data._replace(y=numeric_target(data.y)))
