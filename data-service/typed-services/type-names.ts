// Names of a proto package, from the names of resources and properties (https://google.aip.dev/190,
// https://protobuf.dev/programming-guides/style/).

/** `stock-items`, `stockItems` → `StockItems`. */
export function pascalCase(name: string): string {
  return name
    .split(/[^A-Za-z0-9]+/)
    .filter((part) => part !== '')
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
    .join('')
}

/** `unitPrice`, `unit-price` → `unit_price`; `fooURL` → `foo_url`. */
export function snakeCase(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1_$2')
    .split(/[^A-Za-z0-9]+/)
    .filter((part) => part !== '')
    .join('_')
    .toLowerCase()
}

export function upperSnakeCase(name: string): string {
  return snakeCase(name).toUpperCase()
}

/**
 * The message of one row, `stock-items` → `StockItem`, by the plain rules of English plurals; a name without a plural's end
 * stays as it is. The lock keeps the name, so that it can be changed there before the first release of the proto.
 */
export function rowName(resource: string): string {
  const name = pascalCase(resource)
  if (/[^aeiou]ies$/.test(name)) return name.replace(/ies$/, 'y')
  if (/(?:s|x|z|ch|sh)es$/.test(name)) return name.replace(/es$/, '')
  return /[^s]s$/.test(name) ? name.slice(0, -1) : name
}
