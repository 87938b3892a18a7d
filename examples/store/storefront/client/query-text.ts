/** A query string of the API. Filters are `[property, operator, value]`, other parameters are given by name. */
export function queryText(
  filters: readonly (readonly [property: string, operator: string, value: string])[],
  others: Readonly<Record<string, string>>
): string {
  const query = new URLSearchParams(others)
  for (const [property, operator, value] of filters) {
    query.append(`filters[${property}].operator`, operator)
    query.append(`filters[${property}].value`, value)
  }
  return query.toString()
}
