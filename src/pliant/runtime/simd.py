"""Sums over rows of sparse matrices, four numbers to an instruction.

Coordinates are in tables of four columns, the last of which is 0: (x, y, z, 0). LLVM does not make such instructions of
three products that stand beside each other, so loops over the entries of a row are written in its language here. The
sums have the bits of the plain loops, which stand for them where code is interpreted or indices are checked. Blocks
are of single or double precision, sums of double.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils, config
from numba.extending import intrinsic

from pliant.runtime.jit import INTERPRETED, helper

WIDTH = 4  # numbers in a lane
BLOCK = 3 * WIDTH  # of a 3 by 3 block: its columns, one after the other

_LANE = ir.VectorType(ir.DoubleType(), WIDTH)
_SIZE = ir.IntType(64)


@helper
def _plain_blocks(columns, blocks, x, first, last):
    a = b = c = 0.0
    for k in range(first, last):
        j = columns[k]
        p0, p1, p2 = x[j, 0], x[j, 1], x[j, 2]
        a += float(blocks[k, 0]) * p0 + float(blocks[k, 4]) * p1 + float(blocks[k, 8]) * p2
        b += float(blocks[k, 1]) * p0 + float(blocks[k, 5]) * p1 + float(blocks[k, 9]) * p2
        c += float(blocks[k, 2]) * p0 + float(blocks[k, 6]) * p1 + float(blocks[k, 10]) * p2
    return a, b, c


@helper
def _plain_numbers(columns, values, x, first, last):
    a = b = c = 0.0
    for k in range(first, last):
        j, w = columns[k], values[k]
        a += w * x[j, 0]
        b += w * x[j, 1]
        c += w * x[j, 2]
    return a, b, c


@helper
def _plain_gather(columns, values, blocks, first, last, out, row):
    for i in range(BLOCK):
        total = 0.0
        for k in range(first, last):
            total += values[k] * float(blocks[columns[k], i])
        out[row, i] = total


@helper
def _plain_outer(blocks, row, u, w, factors):
    uu, uv, vu, vv, own = factors
    for q in range(3):
        for p in range(3):
            blocks[row, 4 * q + p] += (uu * u[p] + vu * w[p]) * u[q] + (uv * u[p] + vv * w[p]) * w[q]
        blocks[row, 5 * q] += own


@helper
def mirror_block(blocks, row, other):
    """Write the transpose of a 3 by 3 block of a table, (m, 12), to another row of it."""
    for q in range(3):
        for p in range(3):
            blocks[other, 4 * p + q] = blocks[row, 4 * q + p]
        blocks[other, 4 * q + 3] = 0


def _block_row(_typing_context: Any, columns: Any, blocks: Any, x: Any, first: Any, last: Any) -> Any:
    """block_row(columns, blocks, x, first, last): three numbers, the sum of blocks[k] x[columns[k]] over k from first
    on, before last; blocks : (m, 12), x : (n, 4)"""

    def call(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        loop = _Loop(context, builder, signature.args, arguments)
        total = loop.zeros(1)
        with loop.entries(3, 4) as k:
            of_row = loop.row(0, k, WIDTH)
            products = [
                builder.fmul(loop.lane(1, loop.times(k, BLOCK), WIDTH * c), loop.spread(2, of_row, c)) for c in range(3)
            ]
            both = builder.fadd(builder.fadd(products[0], products[1]), products[2])
            builder.store(builder.fadd(builder.load(total[0]), both), total[0])
        return loop.three(total[0], signature.return_type)

    return types.UniTuple(types.float64, 3)(columns, blocks, x, first, last), call


def _number_row(_typing_context: Any, columns: Any, values: Any, x: Any, first: Any, last: Any) -> Any:
    """number_row(columns, values, x, first, last): three numbers, the sum of values[k] x[columns[k]]; x : (n, 4)"""

    def call(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        loop = _Loop(context, builder, signature.args, arguments)
        total = loop.zeros(1)
        with loop.entries(3, 4) as k:
            product = builder.fmul(loop.spread(1, k, 0), loop.lane(2, loop.row(0, k, WIDTH), 0))
            builder.store(builder.fadd(builder.load(total[0]), product), total[0])
        return loop.three(total[0], signature.return_type)

    return types.UniTuple(types.float64, 3)(columns, values, x, first, last), call


def _gather_blocks(
    _typing_context: Any, columns: Any, values: Any, blocks: Any, first: Any, last: Any, out: Any, row: Any
) -> Any:
    """gather_blocks(columns, values, blocks, first, last, out, row): out[row] = the sum of values[k]
    blocks[columns[k]]; blocks, out : (m, 12)"""

    def call(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        loop = _Loop(context, builder, signature.args, arguments)
        total = loop.zeros(3)
        with loop.entries(3, 4) as k:
            of_row, value = loop.row(0, k, BLOCK), loop.spread(1, k, 0)
            for c, place in enumerate(total):
                product = builder.fmul(value, loop.lane(2, of_row, WIDTH * c))
                builder.store(builder.fadd(builder.load(place), product), place)
        at = loop.times(context.cast(builder, arguments[6], signature.args[6], types.intp), BLOCK)
        for c, place in enumerate(total):
            loop.store(builder.load(place), 5, at, WIDTH * c)
        return context.get_dummy_value()

    return types.void(columns, values, blocks, first, last, out, row), call


def _add_outer(_typing_context: Any, blocks: Any, row: Any, u: Any, w: Any, factors: Any) -> Any:
    """add_outer(blocks, row, u, w, (uu, uv, vu, vv, own)): adds uu u u' + uv u w' + vu w u' + vv w w' + own to a 3 by 3
    block; blocks : (m, 12) float64; u, w : three numbers"""

    def call(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        loop = _Loop(context, builder, signature.args, arguments)
        vectors = [[builder.extract_value(arguments[i], c) for c in range(3)] for i in (2, 3)]
        lanes = [loop.of_numbers(vector) for vector in vectors]
        uu, uv, vu, vv, own = (builder.extract_value(arguments[4], i) for i in range(5))
        left, right = (
            builder.fadd(builder.fmul(loop.repeated(a), lanes[0]), builder.fmul(loop.repeated(b), lanes[1]))
            for a, b in ((uu, vu), (uv, vv))
        )
        at = loop.times(context.cast(builder, arguments[1], signature.args[1], types.intp), BLOCK)
        for q in range(3):
            of_u = builder.fmul(left, loop.repeated(vectors[0][q]))
            of_w = builder.fmul(right, loop.repeated(vectors[1][q]))
            total = builder.fadd(loop.lane(0, at, WIDTH * q), builder.fadd(of_u, of_w))
            place = ir.Constant(ir.IntType(32), q)
            total = builder.insert_element(total, builder.fadd(builder.extract_element(total, place), own), place)
            loop.store(total, 0, at, WIDTH * q)
        return context.get_dummy_value()

    return types.void(blocks, row, u, w, factors), call


class _Loop:
    """Code of a loop over entries of a sparse row; arrays are named by the number of their argument."""

    def __init__(self, context: Any, builder: Any, kinds: Any, arguments: Any) -> None:
        self._context, self._builder, self._kinds, self._arguments = context, builder, kinds, arguments
        self._data = [
            context.make_array(kind)(context, builder, value).data if isinstance(kind, types.Array) else None
            for kind, value in zip(kinds, arguments)
        ]

    def zeros(self, count: int) -> list[Any]:
        """Places of so many lanes, which are 0."""
        places = [cgutils.alloca_once(self._builder, _LANE) for _ in range(count)]
        for place in places:
            self._builder.store(ir.Constant(_LANE, [0.0] * WIDTH), place)
        return places

    def entries(self, first: int, last: int) -> Any:
        begin, end = (
            self._context.cast(self._builder, self._arguments[i], self._kinds[i], types.intp) for i in (first, last)
        )
        return _only_index(cgutils.for_range_slice(self._builder, begin, end, ir.Constant(_SIZE, 1)))

    def times(self, k: Any, width: int) -> Any:
        return self._builder.mul(k, ir.Constant(_SIZE, width))

    def row(self, columns: int, k: Any, width: int) -> Any:
        """Where the row of a table of so many columns begins that entry k names."""
        column = self._builder.load(self._builder.gep(self._data[columns], [k]))
        return self.times(self._builder.zext(column, _SIZE), width)

    def pointer(self, table: int, at: Any, offset: int) -> Any:
        place = self._builder.gep(self._data[table], [self._builder.add(at, ir.Constant(_SIZE, offset))])
        number = self._context.get_data_type(self._kinds[table].dtype)
        return self._builder.bitcast(place, ir.VectorType(number, WIDTH).as_pointer())

    def lane(self, table: int, at: Any, offset: int) -> Any:
        """Four numbers of a table, as doubles."""
        lane = self._builder.load(self.pointer(table, at, offset), align=4)
        return lane if self._kinds[table].dtype == types.float64 else self._builder.fpext(lane, _LANE)

    def store(self, lane: Any, table: int, at: Any, offset: int) -> None:
        pointer = self.pointer(table, at, offset)
        if self._kinds[table].dtype != types.float64:
            lane = self._builder.fptrunc(lane, ir.VectorType(ir.FloatType(), WIDTH))
        self._builder.store(lane, pointer, align=4)

    def spread(self, table: int, at: Any, offset: int) -> Any:
        """One number, four times."""
        builder = self._builder
        return self.repeated(
            builder.load(builder.gep(self._data[table], [builder.add(at, ir.Constant(_SIZE, offset))]))
        )

    def of_numbers(self, numbers: list[Any]) -> Any:
        """(a, b, c, 0)"""
        lane = ir.Constant(_LANE, [0.0] * WIDTH)
        for c, number in enumerate(numbers):
            lane = self._builder.insert_element(lane, number, ir.Constant(ir.IntType(32), c))
        return lane

    def repeated(self, number: Any) -> Any:
        builder = self._builder
        one = builder.insert_element(ir.Constant(_LANE, ir.Undefined), number, ir.Constant(ir.IntType(32), 0))
        mask = ir.Constant(ir.VectorType(ir.IntType(32), WIDTH), [0] * WIDTH)
        return builder.shuffle_vector(one, ir.Constant(_LANE, ir.Undefined), mask)

    def three(self, place: Any, kind: Any) -> Any:
        lane = self._builder.load(place)
        numbers = [self._builder.extract_element(lane, ir.Constant(ir.IntType(32), i)) for i in range(3)]
        return self._context.make_tuple(self._builder, kind, numbers)


class _only_index:
    """A loop of numba's that gives its index alone, and not how often it went round."""

    def __init__(self, loop: Any) -> None:
        self._loop = loop

    def __enter__(self) -> Any:
        return self._loop.__enter__()[0]

    def __exit__(self, *error: Any) -> Any:
        return self._loop.__exit__(*error)


_PLAIN = INTERPRETED or bool(config.BOUNDSCHECK)  # pyright: ignore[reportAttributeAccessIssue]
block_row: Any = _plain_blocks if _PLAIN else intrinsic(_block_row)
number_row: Any = _plain_numbers if _PLAIN else intrinsic(_number_row)
gather_blocks: Any = _plain_gather if _PLAIN else intrinsic(_gather_blocks)
add_outer: Any = _plain_outer if _PLAIN else intrinsic(_add_outer)
# What Python calls instead, where it finds out what is to be compiled (``ahead.py``).
IN_PYTHON: dict[Any, Any] = {
    block_row: _plain_blocks, number_row: _plain_numbers, gather_blocks: _plain_gather, add_outer: _plain_outer,
}  # fmt: skip
