"""What an expression of `eval` may use: NumPy functions, methods and built-ins that only compute.

Nothing here reads or writes files, runs code given as text, changes an array in place or touches global state
(print options, error state, the random generator). A name that this NumPy lacks is left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

_FUNCTIONS = """
all allclose amax amin angle any append apply_along_axis arange argmax argmin argpartition argsort argwhere
around array array_equal array_equiv array_split asarray atleast_1d atleast_2d atleast_3d average bincount
block broadcast_arrays broadcast_to clip column_stack compress concat concatenate convolve corrcoef correlate
count_nonzero cov cross cumprod cumsum cumulative_prod cumulative_sum delete diag diagflat diagonal diff digitize
dot dsplit dstack ediff1d einsum empty empty_like expand_dims extract eye fix flatnonzero flip fliplr flipud full
full_like geomspace gradient histogram histogram2d histogram_bin_edges hsplit hstack hypot i0 identity imag
indices inner insert interp intersect1d isclose iscomplex iscomplexobj isin isneginf isposinf isreal isrealobj
isscalar ix_ kron lexsort linspace logspace mask_indices matrix_transpose max maximum_sctype mean median meshgrid
min moveaxis nan_to_num nanargmax nanargmin nancumprod nancumsum nanmax nanmean nanmedian nanmin nanpercentile
nanprod nanquantile nanstd nansum nanvar ndim nonzero ones ones_like outer pad partition percentile permute_dims
piecewise polyfit polyval prod ptp quantile ravel ravel_multi_index real real_if_close repeat reshape resize roll
rollaxis rot90 round searchsorted select setdiff1d setxor1d shape sinc size sort sort_complex split squeeze stack
std sum swapaxes take take_along_axis tensordot tile trace transpose trapezoid tri tril tril_indices trim_zeros
triu triu_indices union1d unique unique_counts unique_values unravel_index unstack unwrap vander var vdot vecdot
vsplit vstack where zeros zeros_like dtype finfo iinfo result_type can_cast promote_types issubdtype
"""

_CONSTANTS = "pi e inf nan newaxis euler_gamma"

_SUBMODULES = {
    "linalg": """cholesky cond cross det diagonal eig eigh eigvals eigvalsh inv lstsq matmul matrix_norm matrix_power
        matrix_rank multi_dot norm outer pinv qr slogdet solve svd svdvals tensordot trace vecdot vector_norm""",
    "fft": """fft fft2 fftfreq fftn fftshift hfft ifft ifft2 ifftn ifftshift ihfft irfft irfft2 irfftn rfft rfft2
        rfftfreq rfftn""",
}

_METHODS = """
T mT all any argmax argmin argpartition argsort astype choose clip compress conj conjugate copy cumprod cumsum
diagonal dot dtype flatten imag item itemsize max mean min name nbytes ndim nonzero prod ptp ravel real repeat
reshape round searchsorted shape size squeeze std strides sum swapaxes take tobytes tolist trace transpose var view
bits eps tiny smallest_normal smallest_subnormal resolution precision kind
count index keys values items get
capitalize casefold decode encode endswith find isalnum isalpha isdigit islower isspace isupper join lower lstrip
partition replace rfind rsplit rstrip split splitlines startswith strip title upper
numerator denominator is_integer bit_length hex
accumulate reduce reduceat outer
counts indices inverse_indices U S Vh Q R eigenvalues eigenvectors sign logabsdet
"""

METHODS = frozenset(_METHODS.split())

_BUILT_INS = (
    abs, all, any, bool, bytes, complex, dict, divmod, enumerate, float, frozenset, int, len, list, max, min, ord,
    chr, range, repr, reversed, round, set, slice, sorted, str, sum, tuple, zip,
)  # fmt: skip

BUILT_INS: Mapping[str, Any] = MappingProxyType({function.__name__: function for function in _BUILT_INS})


class AllowedNames:
    """A module cut down to some of its names."""

    def __init__(self, title: str, entries: Mapping[str, Any]) -> None:
        self.title = title
        self.entries = MappingProxyType(dict(entries))


def _chosen(module: Any, names: str) -> dict[str, Any]:
    return {name: getattr(module, name) for name in names.split() if hasattr(module, name)}


def _numpy() -> AllowedNames:
    entries = _chosen(np, _FUNCTIONS) | _chosen(np, _CONSTANTS)
    # vars, not getattr: NumPy imports numpy.testing and numpy.f2py (90 ms) when those names are looked at.
    for name, entry in vars(np).items():
        if name.startswith("_"):
            continue
        if isinstance(entry, np.ufunc) or (isinstance(entry, type) and issubclass(entry, np.generic)):
            entries[name] = entry
    for name, members in _SUBMODULES.items():
        entries[name] = AllowedNames(f"np.{name}", _chosen(getattr(np, name), members))
    return AllowedNames("np", entries)


NUMPY = _numpy()
