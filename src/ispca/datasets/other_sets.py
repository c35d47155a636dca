"""Data sets that are not in the paper: substitutes for missing ones, and other kinds of target."""

from __future__ import annotations

from .records import Dataset, Source

MICROARRAY = "https://raw.githubusercontent.com/ramhiser/datamicroarray/master/data"
FROM_MICROARRAY = "GitHub ramhiser/datamicroarray, data/{}.RData"

OTHER_SETS = (
    Dataset(
        name="lung-5c-1543",
        title="Lung tumors and normal lung, five classes, 1543 genes",
        n=203,
        D=1543,
        target="multiclass",
        counts=(139, 20, 17, 6, 21),
        stand_in_for="lung-5c",
        origin="PyPI biclustlib 0.0.13, bhattacharjee-2001_database.txt (collection of de Souto et al. 2008)",
        study="Bhattacharjee et al. 2001",
        scale="raw intensities, floored at 10 by the source",
        preprocessing="log2",
        notes="The samples and classes of Lung-5c, but a different gene filter. There is no direct download.",
        checksum="348f594e5249750725ec0dfef5aed44ed4211fdf9260ee898833c73b9a66e75b",
    ),
    Dataset(
        name="chowdary",
        title="Tumors of breast or colon, Affymetrix U133A",
        n=104,
        D=22283,
        target="binary",
        counts=(62, 42),
        stand_in_for="glioma",
        origin=FROM_MICROARRAY.format("chowdary"),
        study="Chowdary et al. 2006",
        scale="raw intensities from 0",
        preprocessing="log2-plus-16",
        notes="Same array type and D as Glioma, but an easy problem.",
        sources=(Source(f"{MICROARRAY}/chowdary.RData", "rdata"),),
        checksum="9015f59937c61a01b4304c567e413dce7ccf5cf98a35f0c251b3d898823c07bc",
    ),
    Dataset(
        name="gordon",
        title="Lung adenocarcinoma or mesothelioma",
        n=181,
        D=12533,
        target="binary",
        counts=(150, 31),
        stand_in_for="lung",
        origin=FROM_MICROARRAY.format("gordon"),
        study="Gordon et al. 2002",
        scale="raw intensities, 22% of them negative",
        preprocessing="log2-floor-20",
        notes="A size near that of Lung, but an easy problem. The floor makes 269 features constant.",
        sources=(Source(f"{MICROARRAY}/gordon.RData", "rdata"),),
        checksum="4428c52fcbbebd6a98ceeffe6cba60b30ea84d040d6aade4c397bae600e9d618",
    ),
    Dataset(
        name="gravier",
        title="Breast cancer with good or poor outcome, array CGH",
        n=168,
        D=2905,
        target="binary",
        counts=(111, 57),
        stand_in_for="lung",
        origin=FROM_MICROARRAY.format("gravier"),
        study="Gravier et al. 2010",
        scale="log ratios",
        notes="A hard, noisy problem of two classes like Lung.",
        sources=(Source(f"{MICROARRAY}/gravier.RData", "rdata"),),
        checksum="e7b84b8b43e042a5d04c7a98879f1a0b56ec2e30bfe4be628332ee9179e66b82",
    ),
    Dataset(
        name="surv-beer",
        title="Survival (months) in lung adenocarcinoma, Affymetrix HuGeneFL",
        n=86,
        D=7129,
        target="survival",
        origin="GitHub csetraynor/predsurv, data/lungdata.rda",
        study="Beer et al. 2002",
        scale="log2 (RMA)",
        notes="24 deaths among 86: estimates are noisy.",
        sources=(
            Source(
                "https://raw.githubusercontent.com/csetraynor/predsurv/master/data/lungdata.rda", "survival-rdata"
            ),
        ),
        checksum="7894e43859b3823acbe90553cc030c438e9e74df8f70635da69782c79d37c62b",
    ),
    Dataset(
        name="reg-riboflavin",
        title="Log riboflavin production rate of Bacillus subtilis",
        n=71,
        D=4088,
        target="regression",
        origin="GitHub cran/hdi, data/riboflavin.RData",
        study="Bühlmann, Kalisch and Meier 2014",
        scale="log expression",
        sources=(Source("https://raw.githubusercontent.com/cran/hdi/master/data/riboflavin.RData", "rdata"),),
        checksum="0fe52d256e4709dae2509fc78f0d70aeda2313131b30ee4ea9bf364cd7d7c2ab",
    ),
    Dataset(
        name="count-blog",
        title="Comments that a blog post gets in the next 24 hours",
        n=7624,
        D=280,
        target="counts",
        origin="GitHub Machine-Learning-FGA/BlogFeedback, data/blogData_test-2012.*.csv; download from UCI",
        study="UCI BlogFeedback (Buza 2014)",
        scale="counts, statistics of counts and indicators as the source gives them",
        notes="The 60 test days only (`day` 0-59), not the training file. n > D; for D > n use the rows of one or"
        " two days. 59 constant features, 608 repeated rows, a heavy-tailed target that is zero in 70% of rows.",
        sources=(
            Source(
                "https://archive.ics.uci.edu/static/public/304/blogfeedback.zip",
                "blog-zip",
                # As published by other projects that download this file; not verified here.
                sha256="1ba74e5ad920f7cd037502b2968581cc695146a226a73eff52fe8ad875ed4bcf",
                same_file=False,
            ),
        ),
        checksum="92cf80607b8a08eff3bf434b99859da24db7457a9d2f97c17efebcbc86d334d7",
    ),
)
