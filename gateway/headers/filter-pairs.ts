import type { QueryParameter } from './query-parameters.js'

/** A complete condition as it stands in the query; property and operator are judged by the data service. */
export interface FilterPair {
  readonly property: string
  readonly operator: string
  readonly value: string
}

interface Halves {
  readonly operators: QueryParameter[]
  readonly values: QueryParameter[]
}

const FILTER_NAME = /^filters\[([^[\]]*)\]\.(operator|value)$/i

/** Collects `filters[Property].operator` and `filters[Property].value`, contract.md section 4. */
export class FilterPairs {
  readonly #properties = new Map<string, { readonly property: string; readonly halves: Halves }>()

  /** false where the parameter is no half of a filter. */
  take(parameter: QueryParameter): boolean {
    const [, property, part] = FILTER_NAME.exec(parameter.name) ?? []
    if (property === undefined || part === undefined) return false
    const { operators, values } = this.#halvesOf(property)
    const same = part.toLowerCase() === 'operator' ? operators : values
    same.push(parameter)
    return true
  }

  /** The n-th operator of a property goes with its n-th value; what is over on either side is a half. */
  paired(): { filters: FilterPair[]; halves: string[] } {
    const filters: FilterPair[] = []
    const halves: string[] = []
    for (const { property, halves: sides } of this.#properties.values()) {
      const pairs = Math.min(sides.operators.length, sides.values.length)
      for (const [index, { value: operator }] of sides.operators.slice(0, pairs).entries()) {
        filters.push({ property, operator, value: sides.values[index]?.value ?? '' })
      }
      for (const { name } of [...sides.operators.slice(pairs), ...sides.values.slice(pairs)]) halves.push(name)
    }
    return { filters, halves }
  }

  #halvesOf(property: string): Halves {
    const key = property.toLowerCase()
    const known = this.#properties.get(key)
    if (known !== undefined) return known.halves
    const halves: Halves = { operators: [], values: [] }
    this.#properties.set(key, { property, halves })
    return halves
  }
}
