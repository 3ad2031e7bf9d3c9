"""Fields of displacement: which one is used, that it is said, and what is done where the points move by themselves."""

import re
import warnings

import numpy as np
import pytest

from pliant import io as pio
from pliant.io.displacement import is_named_so
from pliant.io.readers import read_motion
from tests.io.broken_volumes import TEXT, XDMF
from tests.io.needs import needed_for

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    "name",
    ["u", "U", "disp", "DISPL", "displacement", "Displacements", "DISPLACEMENT", "deformation", "RESU____DEPL"]
    + ["Total Displacement (mm)", "solidDisplacement", "displacement_vector", "reslin__DEPL[3] - 1.5", "u [m]"],
)
def test_names_that_count(name):
    assert is_named_so(name)


@pytest.mark.parametrize("name", ["", "v", "velocity", "u_old velocity", "grad u", "displaced", "stress", "dispersion"])
def test_names_that_do_not(name):
    assert not is_named_so(name)


def field(name, values, width=3):
    text = " ".join(map(str, values))
    head = f'<DataArray type="Float32" Name="{name}" NumberOfComponents="{width}" format="ascii">'
    return f"{head}{text}</DataArray>"


def vtu(path, height=0.0, **fields):
    """A triangle at a height, with fields of one vector for all points."""
    arrays = "".join(field(name, list(vector) * 3, len(vector)) for name, vector in fields.items())
    text = TEXT.replace("<Points>", f"<PointData>{arrays}</PointData><Points>")
    path.write_text(text.replace("0 0 0 1 0 0 0 1 0", f"0 0 {height} 1 0 {height} 0 1 {height}"), "utf-8")
    return path


def series(folder, fields, heights=None):
    """The same frames as numbered VTU, as PVD and as XDMF."""
    heights = heights or [0.0] * len(fields)
    entries, steps = [], []
    grid = XDMF[XDMF.index("<Geometry") : XDMF.index("</Grid>")]
    for frame, (height, vectors) in enumerate(zip(heights, fields)):
        vtu(folder / f"a_{frame}.vtu", height, **vectors)
        entries.append(f'<DataSet timestep="{frame}" file="a_{frame}.vtu"/>')
        attributes = "".join(
            f'<Attribute Name="{name}" AttributeType="Vector" Center="Node"><DataItem Dimensions="3 {len(vector)}">'
            f"{' '.join(map(str, list(vector) * 3))}</DataItem></Attribute>"
            for name, vector in vectors.items()
        )
        here = grid.replace("0 0 0 1 0 0 0 1 0", f"0 0 {height} 1 0 {height} 0 1 {height}")
        steps.append(f"<Grid>{here if height or not frame else ''}{attributes}</Grid>")
    collection = f'<VTKFile type="Collection"><Collection>{"".join(entries)}</Collection></VTKFile>'
    (folder / "a.pvd").write_text(collection, "utf-8")
    inner = f'<Grid GridType="Collection" CollectionType="Temporal">{"".join(steps)}</Grid>'
    (folder / "a.xdmf").write_text(f"<Xdmf><Domain>{inner}</Domain></Xdmf>", "utf-8")


def heights(sequence):
    return [float(x[2, 2]) for x in sequence]


FORMATS = pytest.mark.parametrize("name", ["a_*.vtu", "a.pvd", "a.xdmf"])


@FORMATS
def test_a_displacement_is_used_and_named(tmp_path, name):
    """All of these were read as a mesh that does not move."""
    series(tmp_path, [{"u": (0, 0, frame)} for frame in range(3)])
    with pytest.warns(UserWarning, match=r"the displacement 'u' is added to the points; .*none\) leaves them"):
        assert heights(pio.open_sequence(tmp_path / name)) == [0, 1, 2]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert heights(pio.open_sequence(tmp_path / name, displacement="u")) == [0, 1, 2]
        assert heights(pio.open_sequence(tmp_path / name, displacement="none")) == [0, 0, 0]
    with pytest.raises(pio.FileError, match=r"has no 'v' of 2 or 3 numbers at its points; it has 'u'"):
        pio.open_sequence(tmp_path / name, displacement="v")


@FORMATS
def test_other_fields_are_not(tmp_path, name):
    series(tmp_path, [{"velocity": (0, 0, frame), "stress": (1,) * 3, "u9": (0,) * 9} for frame in range(3)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert heights(pio.open_sequence(tmp_path / name)) == [0, 0, 0]
        assert heights(pio.open_sequence(tmp_path / name, displacement="velocity")) == [0, 1, 2]


@FORMATS
def test_several_that_could_be_meant_are_named(tmp_path, name):
    series(tmp_path, [{"u": (0, 0, 9), "Displacement": (0, 0, frame)} for frame in range(3)])
    said = r"the displacement 'Displacement' is added to the points; 'u' could be meant too; .* u\) takes that"
    with pytest.warns(UserWarning, match=said):
        assert heights(pio.open_sequence(tmp_path / name)) == [0, 1, 2]


@FORMATS
def test_points_that_move_by_themselves(tmp_path, name):
    """Some programs write where points went, and the displacement beside it: adding both would go twice as far."""
    series(tmp_path, [{"u": (0, 0, frame)} for frame in range(3)], heights=[0, 1, 2])
    with pytest.warns(UserWarning, match=r"the points move from frame to frame, so that 'u' is not .* u\) adds it"):
        assert heights(pio.open_sequence(tmp_path / name)) == [0, 1, 2]
    assert heights(pio.open_sequence(tmp_path / name, displacement="u")) == [0, 2, 4]


@FORMATS
def test_a_plane_displacement(tmp_path, name):
    series(tmp_path, [{"u": (frame, 0)} for frame in range(2)])
    with pytest.warns(UserWarning, match="'u'"):
        assert [x[1].tolist() for x in pio.open_sequence(tmp_path / name)] == [[1, 0, 0], [2, 0, 0]]


@FORMATS
def test_one_frame_is_a_motion_from_rest(tmp_path, name):
    series(tmp_path, [{"u": (0, 0, 5)}])
    with pytest.warns(UserWarning, match="'u'"):
        sequence = pio.open_sequence(tmp_path / name)
    assert heights(sequence) == [0, 5]
    assert (np.diff(sequence.times) > 0).all()
    assert heights(pio.open_sequence(tmp_path / name, displacement="none")) == [0]


@FORMATS
def test_a_frame_without_it_is_named(tmp_path, name):
    series(tmp_path, [{"u": (0, 0, 1)}, {}, {"u": (0, 0, 1)}])
    with pytest.warns(UserWarning, match="'u'"):
        sequence = pio.open_sequence(tmp_path / name)
    with pytest.raises(pio.FileError, match=r"frame 1: .*: has no 'u' at its points"):
        sequence[1]


@pytest.mark.parametrize("name", ["a_0.vtu", "a.xdmf"])
def test_meshes_are_read_displaced(tmp_path, name):
    series(tmp_path, [{"u": (0, 0, 5)}, {"u": (0, 0, 6)}])
    with pytest.warns(UserWarning, match="the displacement 'u' is added"):
        assert pio.read(tmp_path / name).points[2, 2] == 5
    assert pio.read(tmp_path / name, displacement="none").points[2, 2] == 0


def test_a_displacement_that_is_not_finite(tmp_path):
    series(tmp_path, [{"u": (0, 0, "nan")}])
    with pytest.raises(pio.FileError, match=r"a_0\.vtu: 'u' at point 0 is not finite"):
        pio.read(tmp_path / "a_0.vtu", displacement="u")


def test_formats_without_fields(tmp_path):
    (tmp_path / "a.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "utf-8")
    np.savez(tmp_path / "a.npz", frames=np.zeros((2, 3, 3)), faces=[[0, 1, 2]])
    for name in ("a.obj", "a.npz"):
        with pytest.raises(pio.FileError, match=rf"{re.escape(name)}: has no 'u'"):
            pio.open_sequence(tmp_path / name, displacement="u")
        assert len(pio.open_sequence(tmp_path / name, displacement="none"))


def test_functions_of_fenics_in_series_of_their_own(tmp_path):
    series(tmp_path, [{"u": (0, 0, 1)}, {"u": (0, 0, 2)}])
    text = (tmp_path / "a.xdmf").read_text("utf-8")
    grid = '<Grid GridType="Collection" CollectionType="Temporal">'
    other = f'{grid}<Grid><Attribute Name="p"/></Grid><Grid><Attribute Name="p"/></Grid></Grid>'
    mesh = XDMF[XDMF.index("<Geometry") : XDMF.index("</Grid>")]
    text = text.replace(mesh, "").replace(grid, f'<Grid Name="mesh">{mesh}</Grid>{other}{grid}', 1)
    (tmp_path / "a.xdmf").write_text(text, "utf-8")
    with pytest.warns(UserWarning, match="'u'"):
        assert heights(pio.open_sequence(tmp_path / "a.xdmf")) == [1, 2]


@pytest.mark.parametrize("ending", ["vtk", "med"])
def test_files_that_meshio_reads(tmp_path, ending):
    needed_for(f".{ending}")
    meshio = pytest.importorskip("meshio")
    x, faces = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0.0]]), [("triangle", np.array([[0, 1, 2]]))]
    for frame in range(2):
        u = np.tile([0.0, 0.0, frame], (3, 1))
        meshio.Mesh(x, faces, point_data={"displacement": u}).write(tmp_path / f"a_{frame}.{ending}")
    with pytest.warns(UserWarning, match="'displacement' is added"):
        assert heights(pio.open_sequence(tmp_path / f"a_*.{ending}")) == [0, 1]


def test_verbs_use_it_and_say_so(tmp_path, call):
    """pliant ccd result.vtu found nothing to compare, and pliant check examined the mesh at rest."""
    crossing = "0 0 0 2 0 0 0 2 0 0.5 0.5 5 0.5 0.5 6 1.5 1.5 6"
    text = TEXT.replace("0 0 0 1 0 0 0 1 0", crossing).replace('NumberOfPoints="3"', 'NumberOfPoints="6"')
    down = field("u", [0, 0, 0] * 3 + [0, 0, -5.5] * 3)
    text = text.replace("<Points>", f"<PointData>{down}</PointData><Points>")
    text = text.replace('NumberOfCells="1"', 'NumberOfCells="2"').replace(">0 1 2<", ">0 1 2 3 4 5<")
    text = re.sub(r">\s*3\s*<", ">3 6<", re.sub(r">\s*5\s*<", ">5 5<", text))
    (tmp_path / "a.vtu").write_text(text, "utf-8")
    (tmp_path / "b.vtu").write_text(text.replace("-5.5", "-6.5"), "utf-8")
    a, b = tmp_path / "a.vtu", tmp_path / "b.vtu"
    ended = call("check", a)
    assert (ended.code, "the displacement 'u' is added to the points" in ended.err) == (1, True)
    ended = call("check", a, "--displacement", "none")
    assert (ended.code, ended.err) == (0, "")
    for way in ((), ("--displacement", "u")):
        ended = call("ccd", a, *way)
        assert (ended.code, "'u' is added" in ended.err) == (1, not way)
    assert call("ccd", a, "--displacement", "none").code == 0
    assert "has no 'v'" in call("scan", a, "--displacement", "v").err
    for verb in ("ccd", "step"):
        assert call(verb, a, b).code == call(verb, a, b, "--displacement", "u").code
        assert call(verb, a, b, "--displacement", "none").code == 0
    assert call("convert", a, tmp_path / "a.obj").code == 0
    assert pio.read(tmp_path / "a.obj").points[3, 2] == -0.5
    assert call("convert", a, tmp_path / "a.npz").code == 0
    assert len(pio.open_sequence(tmp_path / "a.npz")) == 2


def test_two_files_whose_points_move(tmp_path):
    a, b = vtu(tmp_path / "a.vtu", 0.0, u=(0, 0, 0)), vtu(tmp_path / "b.vtu", 1.0, u=(0, 0, 1))
    with pytest.warns(UserWarning, match="the points move from frame to frame"):
        assert [mesh.points[2, 2] for mesh in read_motion(a, b)] == [0, 1]
    assert [mesh.points[2, 2] for mesh in read_motion(a, b, displacement="u")] == [0, 2]
