import { followed, inside, type Json, parametersOf } from '../harness/openapi-document.js'

/** What a test sends to an operation. */
export interface SentValues {
  readonly target: string
  readonly body?: unknown
  /** The version of the row, for `If-Match`. */
  readonly version?: string
}

/** An operation of a resource or of the application, with the examples that the document shows of it. */
export class DocumentedOperation {
  readonly path: string
  readonly method: string
  /** The first segment of the path. */
  readonly resource: string
  readonly hasBody: boolean
  readonly mediaType: string
  /** The example of the request; undefined without one. */
  readonly body: unknown
  /** Of the success. */
  readonly status: number
  readonly hasAnswer: boolean
  readonly answer: unknown
  readonly #isJson: boolean
  readonly #parameters: readonly Json[]

  constructor(document: Json, path: string, method: string) {
    this.path = path
    this.method = method
    this.resource = path.split('/')[1] ?? ''
    this.#parameters = [...parametersOf(document, path, method).values()].map((one) => ({ ...one }))
    const contentAt = (...steps: readonly string[]): readonly (readonly [mediaType: string, content: Json])[] =>
      Object.entries(
        (inside(document, 'paths', path, method, ...steps, 'content') ?? {}) as Readonly<Record<string, Json>>
      )
    const [request] = contentAt('requestBody')
    const responses = Object.keys(inside(document, 'paths', path, method, 'responses') as Json)
    const status = responses.find((one) => one.startsWith('2')) ?? ''
    const [answer] = contentAt('responses', status)
    this.hasBody = request !== undefined
    this.mediaType = request?.[0] ?? ''
    this.body = exampleIn(document, request?.[1])
    this.status = Number(status)
    this.hasAnswer = answer !== undefined
    this.answer = exampleIn(document, answer?.[1])
    this.#isJson = answer?.[0] === 'application/json'
  }

  /** The path with the examples of its required parameters, or with other values for some of them. */
  target(values: Json): string {
    const valueOf = (name: string): string => {
      const found = this.#parameters.find((one) => one['name'] === name)
      return encodeURIComponent(String(values[name] ?? found?.['example']))
    }
    const path = this.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => valueOf(name))
    const query = this.#parameters
      .filter((one) => one['in'] === 'query' && one['required'] === true)
      .map(({ name }) => `${String(name)}=${valueOf(String(name))}`)
    return query.length === 0 ? path : `${path}?${query.join('&')}`
  }

  /** The examples of the query parameters that are not required, by name. */
  optionalParameters(): ReadonlyMap<string, unknown> {
    return new Map(
      this.#parameters
        .filter((one) => one['in'] === 'query' && one['required'] !== true && one['example'] !== undefined)
        .map((one) => [String(one['name']), one['example']])
    )
  }

  /** The body of an answer. */
  read(text: string): unknown {
    if (text === '') return undefined
    return this.#isJson ? (JSON.parse(text) as unknown) : text
  }
}

function exampleIn(document: Json, content: Json | undefined): unknown {
  const [example] = Object.values((content?.['examples'] ?? {}) as Json)
  return example === undefined ? undefined : followed(document, example as Json)?.['value']
}

/** Those of resources and of the application: what the gateway does by itself has tags of its own. */
export function operationsIn(document: Json): readonly DocumentedOperation[] {
  return Object.entries(document['paths'] as Readonly<Record<string, Json>>).flatMap(([path, methods]) =>
    Object.keys(methods)
      .filter((method) => !['sessions', 'service'].includes(String(inside(methods, method, 'tags', '0'))))
      .map((method) => new DocumentedOperation(document, path, method))
  )
}

/** How a value has not the members and types of the example. null has any type: the schema says where it may be. */
export function differences(example: unknown, value: unknown, at = ''): readonly string[] {
  if (value === null) return []
  if (typeof example === 'string' && typeof value === 'string' && example.startsWith('\uFEFF')) {
    // A file has the same header row.
    const [header, shown] = [value, example].map((file) => file.split('\r\n')[0])
    return header === shown ? [] : [`${header} is not ${shown}`]
  }
  if (Array.isArray(example)) {
    if (!Array.isArray(value) || value.length === 0) return [`${at} is no list with items`]
    return differences(example[0], value[0], `${at}/0`)
  }
  if (typeof example === 'object' && example !== null) {
    if (typeof value !== 'object') return [`${at} is no object`]
    const [shown, given] = [example, value].map((members) => Object.keys(members).join())
    if (shown !== given) return [`${at} has ${given}, and the example ${shown}`]
    return Object.entries(value).flatMap(([name, member]) =>
      differences((example as Json)[name], member, `${at}/${name}`)
    )
  }
  return typeof example === typeof value ? [] : [`${at} is ${typeof value}, and the example ${typeof example}`]
}

/**
 * The body of an action with the version of the child that it names, where it takes one; undefined where the row has no
 * such child.
 */
export function withVersions(body: Json, row: Json): Json | undefined {
  const guard = Object.keys(body).find((name) => name.endsWith('RowVersion'))
  if (guard === undefined) return body
  const id = body[guard.replace(/RowVersion$/, 'Id')]
  const children = Object.values(row).filter((one) => Array.isArray(one)) as readonly (readonly Json[])[]
  const child = children.flat().find((one) => one['id'] === id)
  return child && { ...body, [guard]: child['rowVersion'] }
}
