// Positions, corners and layers are in textures, so that nothing is copied for each corner: a vertex is fetched by
// its number. One texel a vertex or a face, WIDTH of them in a row.

const WIDTH = 2048;

const VERTEX = `#version 300 es
precision highp float;
precision highp int;
precision highp usampler2D;
precision highp sampler2D;
uniform usampler2D positions, faces, parts, layers, tints;
uniform sampler2D normals;
uniform mat4 projection;
uniform mat3 turned;
uniform vec3 size, shift;
uniform uint shownLayers;
uniform ivec2 chosen;
uniform bool onlyRed, tinted;
out vec3 place, normal, corner;
flat out vec3 paint;
flat out float red, faded;

ivec2 texel(uint i) { return ivec2(int(i) % ${WIDTH}, int(i) / ${WIDTH}); }

const vec3 PAINTS[8] = vec3[8](vec3(.80, .78, .74), vec3(.62, .70, .79), vec3(.74, .77, .66), vec3(.82, .74, .65),
  vec3(.70, .67, .78), vec3(.64, .76, .75), vec3(.80, .70, .72), vec3(.70, .70, .70));

// From dark blue to yellow, as light as they are large, for those who see no red or green, too; and no red, which is kept
// for what collides.
const vec3 RAMP[5] = vec3[5](vec3(.27, .22, .47), vec3(.21, .41, .60), vec3(.16, .62, .56), vec3(.50, .79, .38),
  vec3(.98, .89, .25));

vec3 ramp(float part) {
  float at = 4. * part;
  int low = min(int(at), 3);
  return mix(RAMP[low], RAMP[low + 1], at - float(low));
}

void main() {
  uint face = uint(gl_VertexID) / 3u;
  int which = gl_VertexID % 3;
  uint vertex = texelFetch(faces, texel(face), 0)[which];
  int part = int(texelFetch(parts, texel(vertex), 0).r);
  red = (texelFetch(layers, texel(face), 0).r & shownLayers) != 0u ? 1. : 0.;
  bool of_chosen = chosen.x < 0 || part == chosen.x || part == chosen.y;
  faded = of_chosen ? 0. : 1.;
  paint = tinted ? ramp(float(texelFetch(tints, texel(face), 0).r) / 255.) : PAINTS[part % 8];
  corner = vec3(which == 0, which == 1, which == 2);
  normal = turned * texelFetch(normals, texel(vertex), 0).xyz;
  place = turned * ((vec3(texelFetch(positions, texel(vertex), 0).xyz) / 65535. - .5) * size) - shift;
  gl_Position = onlyRed && red < .5 ? vec4(2., 2., 2., 1.) : projection * vec4(place, 1.);
}`;

const FRAGMENT = `#version 300 es
precision highp float;
in vec3 place, normal, corner;
flat in vec3 paint;
flat in float red, faded;
uniform bool through, edges;
uniform vec3 redPaint, fadePaint;
out vec4 colour;

void main() {
  vec3 flatNormal = normalize(cross(dFdx(place), dFdy(place)));
  vec3 n = dot(normal, normal) < .1 ? flatNormal : normalize(normal);
  vec3 eye = normalize(-place);
  if (dot(n, flatNormal) < 0.) n = -n;
  float key = max(dot(n, normalize(vec3(.45, .70, .60))), 0.);
  float fill = max(dot(n, normalize(vec3(-.75, .10, .45))), 0.);
  float sky = .5 + .5 * n.y;
  float rim = pow(1. - max(dot(n, eye), 0.), 3.);
  float light = .45 + .13 * sky + .46 * key + .12 * fill - .12 * rim;
  vec3 base = mix(mix(paint, redPaint, red), fadePaint, faded * (1. - red) * .78);
  base = mix(base, fadePaint, faded * red * .35);
  vec3 shade = base * light + .07 * pow(max(dot(reflect(-eye, n), normalize(vec3(.45, .70, .60))), 0.), 24.);
  // Edges a pixel wide; gone where triangles are a few pixels small, or all would be edge.
  vec3 wide = fwidth(corner);
  float near = min(min(corner.x / wide.x, corner.y / wide.y), corner.z / wide.z);
  float large = 1. - smoothstep(.05, .17, max(max(wide.x, wide.y), wide.z));
  float line = edges ? (1. - smoothstep(.4, 1.3, near)) * large : 0.;
  shade *= 1. - (red > .5 ? .30 : .17) * line * (1. - .7 * faded);
  colour = through ? vec4(shade * 1.05, .26) : vec4(shade, 1.);
}`;
