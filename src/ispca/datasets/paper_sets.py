"""The twelve data sets of the paper, three of which could not be obtained."""

from __future__ import annotations

from .records import Dataset, Source

DIMREDUCE = "https://raw.githubusercontent.com/jpiironen/dimreduce/master/data"
SKFEATURE = "https://raw.githubusercontent.com/jundongl/scikit-feature/master/skfeature/data"
SKFEATURE_SITE = "https://jundongl.github.io/scikit-feature/files/datasets"
UCI = "https://archive.ics.uci.edu/static/public"
FROM_DIMREDUCE = "GitHub jpiironen/dimreduce, data/{}.RData"
FROM_SKFEATURE = "GitHub jundongl/scikit-feature, skfeature/data/{}.mat"
FROM_SITE = "feature-selection repository (jundongl.github.io/scikit-feature), {}.mat"
NOT_OBTAINED = (
    "No complete copy could be obtained, so there is no checksum. Only the size and the number of samples per"
    " class are verified, and it is not known whether the values are logarithms."
)


def _dimreduce(name: str) -> tuple[Source, ...]:
    return (Source(f"{DIMREDUCE}/{name}.RData", "rdata"),)


def _skfeature(name: str) -> tuple[Source, ...]:
    return tuple(Source(f"{place}/{name}.mat", "mat") for place in (SKFEATURE, SKFEATURE_SITE))


PAPER_SETS = (
    Dataset(
        name="ovarian",
        title="Ovarian tissue, tumor or normal, cDNA array",
        n=54,
        D=1536,
        target="binary",
        counts=(24, 30),
        paper_name="Ovarian",
        origin=FROM_DIMREDUCE.format("ovarian"),
        study="presumably Schummer et al. 1999 (the source names no study)",
        scale="log ratios, not standardized",
        notes="Class 1 is presumably tumor.",
        sources=_dimreduce("ovarian"),
        checksum="47231bfe2c9d0db0cdea4a67ec4311943dee7c579c7c5ad2ab50698baaee9eb3",
    ),
    Dataset(
        name="colon",
        title="Colon tissue, tumor (1) or normal (0), Affymetrix",
        n=62,
        D=2000,
        target="binary",
        counts=(22, 40),
        paper_name="Colon",
        origin=FROM_DIMREDUCE.format("colon"),
        study="Alon et al. 1999",
        scale="logs, then standardized per sample and per feature by the source",
        sources=_dimreduce("colon"),
        checksum="86baa644a138bbadbfcd9fcc36bcb0439cac4dbea0364a154aba8cc720731888",
    ),
    Dataset(
        name="prostate",
        title="Prostate tissue, tumor (1, judging by its count) or normal (0)",
        n=102,
        D=5966,
        target="binary",
        counts=(50, 52),
        paper_name="Prostate",
        origin=FROM_DIMREDUCE.format("prostate"),
        study="Singh et al. 2002",
        scale="log10, floored at 1 by the source",
        sources=_dimreduce("prostate"),
        checksum="262ff9b5495d415cc88adb0e519176660c3ece2baaa454d90b8fec8f62e77da8",
    ),
    Dataset(
        name="leukemia",
        title="Leukemia, ALL (0) or AML (1)",
        n=72,
        D=7129,
        target="binary",
        counts=(47, 25),
        paper_name="Leukemia",
        origin=FROM_DIMREDUCE.format("leukemia"),
        study="Golub et al. 1999",
        scale="standardized per feature by the source",
        sources=_dimreduce("leukemia"),
        checksum="a8b0dad908279ee956487ed0f78f9cbe0c3a5abd6b4bf09d7bcb4062b598d4bb",
    ),
    Dataset(
        name="glioma",
        title="Gliomas of two grades, Affymetrix U133A",
        n=85,
        D=22283,
        target="binary",
        counts=(26, 59),
        paper_name="Glioma",
        origin=FROM_SITE.format("GLI_85"),
        study="Freije et al. 2004 (GEO GSE4412)",
        scale="unknown",
        notes=NOT_OBTAINED,
        sources=(Source(f"{SKFEATURE_SITE}/GLI_85.mat", "mat"),),
    ),
    Dataset(
        name="glioma-4c",
        title="Gliomas of four types",
        n=50,
        D=4434,
        target="multiclass",
        counts=(14, 7, 14, 15),
        paper_name="Glioma-4c",
        origin=FROM_SKFEATURE.format("GLIOMA"),
        study="Nutt et al. 2003",
        scale="log10",
        notes="By size: 1 classic glioblastoma, 2 classic oligodendroglioma, 3 and 4 the non-classic ones.",
        sources=_skfeature("GLIOMA"),
        checksum="e882f4a2ad3ab656d56e9d2ba5a6a254ed34822cba3398476b3f272d82182362",
    ),
    Dataset(
        name="lung",
        title="Smokers with and without lung cancer, airway epithelium",
        n=187,
        D=19993,
        target="binary",
        counts=(90, 97),
        paper_name="Lung",
        origin=FROM_SITE.format("SMK_CAN_187"),
        study="Spira et al. 2007 (GEO GSE4115)",
        scale="unknown",
        notes=NOT_OBTAINED,
        sources=(Source(f"{SKFEATURE_SITE}/SMK_CAN_187.mat", "mat"),),
    ),
    Dataset(
        name="lung-5c",
        title="Lung tumors and normal lung, five classes, 3312 genes",
        n=203,
        D=3312,
        target="multiclass",
        counts=(139, 17, 21, 20, 6),
        paper_name="Lung-5c",
        origin=FROM_SITE.format("lung"),
        study="Bhattacharjee et al. 2001",
        scale="unknown",
        notes=NOT_OBTAINED,
        sources=(Source(f"{SKFEATURE_SITE}/lung.mat", "mat"),),
    ),
    Dataset(
        name="arcene",
        title="Cancer (1) or normal (-1), mass spectra plus uninformative probes",
        n=200,
        D=10000,
        target="binary",
        counts=(112, 88),
        paper_name="Arcene",
        origin=FROM_SKFEATURE.format("arcene"),
        study="NIPS 2003 feature selection challenge (Guyon et al. 2004)",
        scale="intensities as the challenge gives them; the paper only standardizes them",
        notes="Rows 0-99 are the training part, 100-199 the validation part; 39 features are constant.",
        sources=_skfeature("arcene"),
        checksum="d774d403fab6dfd47837626df7e8cd68b4aa4d12e98984b771f39ed517c0da52",
    ),
    Dataset(
        name="dexter",
        title="Reuters articles, corporate acquisitions (1) or not (-1), plus uninformative probes",
        n=600,
        D=20000,
        target="binary",
        counts=(300, 300),
        paper_name="Dexter",
        sparse=True,
        origin="NIPS 2003 challenge: train from PyPI hub-toolbox 2.5.2, validation from GitHub"
        " LUCKY-ting/online-feature-selection; download from UCI",
        study="NIPS 2003 feature selection challenge (Guyon et al. 2004)",
        scale="word counts, scaled by the challenge; the paper only standardizes them",
        notes="`split`: 0 train, 1 validation; 8965 features are zero in all rows. Feature 20000 was missing in"
        " the validation source and is taken as zero.",
        sources=(Source(f"{UCI}/168/dexter.zip", "dexter-zip", same_file=False),),
        checksum="5a19ff39ad67560610a339cd53cf7fe86568ce49b45e27794d0f003c0e473513",
    ),
    Dataset(
        name="basehock",
        title="20 Newsgroups word counts, baseball (1) or hockey (2)",
        n=1993,
        D=4862,
        target="binary",
        counts=(994, 999),
        paper_name="Basehock",
        sparse=True,
        origin=FROM_SKFEATURE.format("BASEHOCK"),
        study="20 Newsgroups (Lang 1995)",
        scale="word counts; the paper only standardizes them",
        sources=_skfeature("BASEHOCK"),
        checksum="57183b88de3d1b2c7d71140614ee206fcfc9ba6e3d44f2712e49d3694185f99f",
    ),
    Dataset(
        name="pcmac",
        title="20 Newsgroups word counts, PC (1) or Mac (2) hardware",
        n=1943,
        D=3289,
        target="binary",
        counts=(982, 961),
        paper_name="PCMac",
        sparse=True,
        origin=FROM_SKFEATURE.format("PCMAC"),
        study="20 Newsgroups (Lang 1995)",
        scale="word counts; the paper only standardizes them",
        sources=_skfeature("PCMAC"),
        checksum="d85a14555243efd8c186b2883ba34c46b72a8bbfb2fcaa4df12c2c83c88bf127",
    ),
)
