import { asList, asMap, type Shape } from './shape.ts';

/** The paths of atomic values in an applied configuration: a merge would replace them as a whole. */
export function atomicsIn(shape: Shape, value: unknown, path = ''): readonly string[] {
  const list = asList(value);
  if (list !== undefined) {
    const { list: form } = shape;
    if (form === undefined) return [];
    return [...(form.atomic ? [path] : []), ...list.flatMap((item, i) => atomicsIn(form.element(), item, `${path}[${i}]`))];
  }
  const [map, form] = [asMap(value), shape.map];
  if (map === undefined || form === undefined) return [];
  const inside = Object.keys(map).flatMap((name) => {
    const field = form.field(name);
    return field === undefined ? [] : atomicsIn(field.shape, map[name], `${path}.${name}`);
  });
  return [...(form.atomic ? [path] : []), ...inside];
}
