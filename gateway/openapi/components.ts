import type { Resource } from '../data/data-client.js'

/** A place that holds the component: `{ "$ref": "#/components/schemas/products" }`. */
export interface ComponentRef {
  readonly $ref: string
}

type ComponentKind = 'schemas' | 'parameters' | 'requestBodies' | 'responses' | 'headers' | 'examples'

/**
 * What the parts of a document share by reference. A component is made when it is first referred to, so the document
 * holds none that nothing uses. It is kept as JSON: the objects of hundreds of resources take several times as much memory.
 */
export class Components {
  readonly #resources: ReadonlyMap<string, Resource>
  readonly #made: Readonly<Record<ComponentKind, Map<string, string>>> = {
    schemas: new Map(),
    parameters: new Map(),
    requestBodies: new Map(),
    responses: new Map(),
    headers: new Map(),
    examples: new Map()
  }

  /** The names of what `share` has made, by kind and wanted name and then by text. */
  readonly #shared = new Map<string, Map<string, string>>()

  /** The public base URL, without a slash at its end. */
  readonly base: string

  /** Whether creates need an Idempotency-Key. */
  readonly keyRequired: boolean

  /** Whether the document is the exact one, and not the shorter one for generators of clients: see `OpenApiContent`. */
  readonly exact: boolean

  constructor(resources: readonly Resource[], { base = '', keyRequired = false, exact = false } = {}) {
    this.base = base
    this.keyRequired = keyRequired
    this.exact = exact
    this.#resources = new Map(resources.map((resource) => [resource.name, resource]))
  }

  /** The resource that a navigation leads to; undefined if the caller sees none of this name. */
  resource(name: string): Resource | undefined {
    return this.#resources.get(name)
  }

  /** A path that a problem document may be about. */
  get somePath(): string {
    const [first = 'openapi.json'] = this.#resources.keys()
    return `/${first}`
  }

  /** A reference to the component of this name. `make` may refer to the same component again. */
  refer(kind: ComponentKind, name: string, make: () => object): ComponentRef {
    return this.#refer(kind, name, () => JSON.stringify(make()))
  }

  #refer(kind: ComponentKind, name: string, write: () => string): ComponentRef {
    const components = this.#made[kind]
    if (!components.has(name)) {
      components.set(name, '{}')
      components.set(name, write())
    }
    return { $ref: `#/components/${kind}/${name}` }
  }

  /** A reference to this component, under the name or, where another one has it, under the name with a number. */
  share(kind: ComponentKind, name: string, component: object): ComponentRef {
    const wanted = `${kind}/${name}`
    const names = this.#shared.get(wanted) ?? new Map<string, string>()
    this.#shared.set(wanted, names)
    const text = JSON.stringify(component)
    const found = names.get(text) ?? this.#freeName(kind, name, names.size)
    names.set(text, found)
    return this.#refer(kind, found, () => text)
  }

  /** The first free name where `taken` components have this name, numbered from the second on. */
  #freeName(kind: ComponentKind, name: string, taken: number): string {
    for (let number = taken + 1; ; number++) {
      const numbered = number === 1 ? name : `${name}${number}`
      if (!this.#made[kind].has(numbered)) return numbered
    }
  }

  /** The `components` of the document, each of them as JSON. */
  get made(): Readonly<Record<string, ReadonlyMap<string, string>>> {
    return this.#made
  }
}

/** Components of operations of which only the path, the method and the summary are wanted: none is made. */
export class NoComponents extends Components {
  override refer(kind: ComponentKind, name: string): ComponentRef {
    return { $ref: `#/components/${kind}/${name}` }
  }

  override share(kind: ComponentKind, name: string): ComponentRef {
    return this.refer(kind, name)
  }
}
