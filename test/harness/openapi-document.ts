export type Json = Readonly<Record<string, unknown>>

/** A parameter of an operation, as the document has it. */
export interface Parameter {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly description: string
  readonly schema: Json & { readonly items: Json }
}

/** What a `$ref` leads to in the document; anything else as it is. */
export function followed(document: unknown, at: Json | undefined): Json | undefined {
  const reference = at?.['$ref']
  if (typeof reference !== 'string') return at
  return reference
    .split('/')
    .slice(1)
    .reduce<Json | undefined>((found, step) => found?.[step] as Json | undefined, document as Json)
}

/** What is at the end of the steps. References on the way are followed, from the root of the document. */
export function inside(document: unknown, ...steps: readonly string[]): unknown {
  return steps.reduce<unknown>((at, step) => followed(document, at as Json | undefined)?.[step], document)
}

/** The parameters of an operation by name, empty if there is no such operation. */
export function parametersOf(document: unknown, path: string, method: string): ReadonlyMap<string, Parameter> {
  const shared = (inside(document, 'paths', path, 'parameters') ?? []) as readonly Json[]
  const own = (inside(document, 'paths', path, method, 'parameters') ?? []) as readonly Json[]
  const parameters = inside(document, 'paths', path, method) === undefined ? [] : [...shared, ...own]
  return new Map(
    parameters.map((one) => {
      const parameter = followed(document, one) as unknown as Parameter
      return [parameter.name, parameter]
    })
  )
}
