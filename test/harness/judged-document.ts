import type { IncomingHttpHeaders } from 'node:http'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { default as addFormats } from 'ajv-formats'
import type { Json } from './openapi-document.js'

/** A request as it was sent. */
export interface SentRequest {
  readonly method: string
  /** Path and query below the base URL of the service. */
  readonly target: string
  /** By names in lower case; several lines of one name are joined by commas. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
}

/** The response to it. */
export interface ReceivedAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

/** A part of the document, and where it is: a JSON pointer without references on its way. */
interface Place {
  readonly pointer: string
  readonly value: Json
}

interface DocumentedPath {
  readonly segments: readonly string[]
  readonly place: Place
}

/** What HTTP itself adds, and what the media type of a response says. */
const FRAMING: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'content-type',
  'date',
  'keep-alive',
  'transfer-encoding'
])

const METHODS = ['get', 'post', 'put', 'patch', 'delete']

/** An OpenAPI 3.1 document that says of requests whether it accepts them, and of responses whether it describes them. */
export class JudgedDocument {
  readonly #document: Json
  readonly #ajv = new Ajv2020({ strict: false, validateSchema: false, logger: false, allErrors: false })
  readonly #paths: readonly DocumentedPath[]
  readonly #compiled = new Map<string, ValidateFunction>()

  constructor(document: Json) {
    this.#document = document
    addFormats.default(this.#ajv)
    this.#ajv.addSchema(document, 'document')
    this.#paths = Object.keys(document['paths'] as Json).map((path) => ({
      segments: path.split('/').slice(1),
      place: this.#at(`/paths/${escaped(path)}`)
    }))
  }

  /** How `Allow` differs from the methods that the document has at the path; empty if it does not. */
  differencesOfAllow(target: string, allow: string | undefined): string[] {
    const given = new Set((allow ?? '').split(', '))
    const [nearest, ...others] = this.#pathsOf(target).map(methodsAt)
    if (nearest === undefined) return ['There is no such path.']
    // What is text of its own to one method may be an id to another: `POST /products/batch`, `GET /products/batch`.
    const possible = new Set([nearest, ...others].flat())
    return [
      ...nearest.filter((one) => !given.has(one)).map((one) => `Allow lacks ${one}.`),
      ...[...given].filter((one) => !possible.has(one)).map((one) => `Allow names ${one}, and the document does not.`)
    ]
  }

  /** Why the document does not accept the request; empty if it does. */
  refusals(request: SentRequest): string[] {
    const operation = this.#operationOf(request)
    if (operation === undefined) return ['There is no such operation.']
    const { headers, target, body } = request
    const refusals: string[] = []
    if (needsToken(operation.value) && headers['authorization'] === undefined) refusals.push('It needs a token.')
    const query = queryOf(target)
    if (query === undefined) return ['The query is no percent-encoded UTF-8.']
    const path = this.#pathOf(target)
    for (const { pointer, value } of this.#all(operation, 'parameters')) {
      const name = String(value['name'])
      const given =
        value['in'] === 'query'
          ? valuesOf(query, name.toLowerCase())
          : value['in'] === 'header'
            ? [headers[name.toLowerCase()]].filter((one) => one !== undefined)
            : [segmentOf(path, target, name)]
      if (given === undefined || given.length === 0) {
        if (value['required'] === true) refusals.push(`${name} is missing.`)
      } else if (!this.#takesParameter({ pointer, value }, given)) {
        refusals.push(`${name} does not match its schema: ${given.join().slice(0, 200)}`)
      }
    }
    return [...refusals, ...this.#refusalsOfBody(operation, headers['content-type'], body)]
  }

  /** How the response differs from what the document says of it; empty if it does not. */
  differences(request: SentRequest, answer: ReceivedAnswer): string[] {
    const operation = this.#operationOf(request)
    const response =
      operation === undefined ? this.#at('/components/responses/Problem') : this.#responseOf(operation, answer.status)
    if (response === undefined) return [`The status ${answer.status} is not documented.`]
    return [
      ...this.#differencesOfHeaders(response, answer.headers),
      ...this.#differencesOfBody(response, answer, request.method)
    ]
  }

  /** How examples do not match the schemas beside them, those of parameters too; empty if all of them do. */
  faultsOfExamples(): string[] {
    const faults: string[] = []
    const judge = (pointer: string, value: unknown): void => {
      const validate = this.#validator(`${pointer}/schema`)
      if (!validate(value)) faults.push(`${pointer}: ${this.#ajv.errorsText(validate.errors)}`)
    }
    const walk = (pointer: string, value: unknown): void => {
      if (typeof value !== 'object' || value === null) return
      const { schema, example, examples } = value as Json
      if (schema !== undefined && example !== undefined) judge(pointer, example)
      for (const name of schema === undefined ? [] : Object.keys(examples ?? {})) {
        judge(pointer, this.#at(`${pointer}/examples/${escaped(name)}`).value['value'])
      }
      for (const [name, member] of Object.entries(value)) walk(`${pointer}/${escaped(name)}`, member)
    }
    for (const part of ['/paths', '/components/parameters', '/components/responses']) {
      walk(part, this.#at(part).value)
    }
    return faults
  }

  #responseOf(operation: Place, status: number): Place | undefined {
    const responses = operation.value['responses'] as Json
    const key = [String(status), 'default'].find((one) => responses[one] !== undefined)
    return key === undefined ? undefined : this.#at(`${operation.pointer}/responses/${key}`)
  }

  #differencesOfHeaders(response: Place, headers: IncomingHttpHeaders): string[] {
    const documented = this.#members(response, 'headers').map(([name, place]) => ({ name, place }))
    const known = new Set(documented.map(({ name }) => name.toLowerCase()))
    const unknown = Object.keys(headers).filter((name) => !known.has(name) && !FRAMING.has(name))
    const wrong = documented.flatMap(({ name, place }) => {
      const given = headers[name.toLowerCase()]
      if (given === undefined) return place.value['required'] === true ? [`The header ${name} is missing.`] : []
      return [given].flat().every((value) => this.#takesHeader(place, value))
        ? []
        : [`The header ${name} does not match its schema: ${[given].flat().join()}`]
    })
    return [...unknown.map((name) => `The header ${name} is not documented.`), ...wrong]
  }

  #takesHeader({ pointer, value }: Place, text: string): boolean {
    if (!this.#takesText(`${pointer}/schema`, text)) return false
    const schema = value['schema'] as Json
    if (schema['contentSchema'] === undefined) return true
    return this.#validator(`${pointer}/schema/contentSchema`)(JSON.parse(text))
  }

  #differencesOfBody(response: Place, { headers, text }: ReceivedAnswer, method: string): string[] {
    const content = response.value['content'] as Json | undefined
    if (content === undefined) return text === '' ? [] : ['There is a body, and none is documented.']
    const type = essence(headers['content-type'])
    if (type === undefined || content[type] === undefined) return [`The media type ${type} is not documented.`]
    if (method === 'HEAD') return text === '' ? [] : ['There is a body.']
    const validate = this.#validator(`${response.pointer}/content/${escaped(type)}/schema`)
    if (validate(/[/+]json$/.test(type) ? JSON.parse(text) : text)) return []
    return [`The body does not match its schema: ${this.#ajv.errorsText(validate.errors)}`]
  }

  #refusalsOfBody(operation: Place, contentType: string | undefined, body: string | undefined): string[] {
    if (operation.value['requestBody'] === undefined) return []
    const place = this.#at(`${operation.pointer}/requestBody`)
    if (body === undefined || body === '') return place.value['required'] === true ? ['The body is missing.'] : []
    const type = essence(contentType)
    const content = place.value['content'] as Json
    if (type === undefined || content[type] === undefined) return [`The body is of the media type ${type}.`]
    const value = parsed(body)
    if (value === undefined) return ['The body is not valid JSON.']
    const validate = this.#validator(`${place.pointer}/content/${escaped(type)}/schema`)
    if (validate(value.json)) return []
    return [`The body does not match its schema: ${this.#ajv.errorsText(validate.errors)}`]
  }

  /** Parameters of the styles that the document has: `form` in the query, `simple` elsewhere (OpenAPI 3.1 section 4.8.12). */
  #takesParameter({ pointer, value }: Place, given: readonly string[]): boolean {
    const schema = `${pointer}/schema`
    const { value: declared } = this.#at(schema)
    if (declared['type'] !== 'array') return this.#takesText(schema, given.join())
    const items = value['explode'] === true ? given : given.join().split(',')
    const { maxItems = Infinity } = declared as { readonly maxItems?: number }
    return items.length <= maxItems && items.every((item) => this.#takesText(`${schema}/items`, item))
  }

  /** Whether the schema accepts the text, or the number or boolean that it writes. */
  #takesText(pointer: string, text: string): boolean {
    const validate: (value: unknown) => unknown = this.#validator(pointer)
    if (validate(text) === true) return true
    return (
      /^(?:true|false|-?\d+(?:\.\d+)?)$/.test(text) &&
      validate(JSON.parse(text.replace(/^(-?)0+(?=\d)/, '$1'))) === true
    )
  }

  #validator(pointer: string): ValidateFunction {
    const known = this.#compiled.get(pointer)
    if (known !== undefined) return known
    const { pointer: place, value } = this.#at(pointer)
    // Most schemas are there a hundred times, and the compiler takes longer than all that is judged.
    const text = JSON.stringify(value)
    const made = this.#compiled.get(text) ?? this.#ajv.compile({ $ref: `document#${encodeURI(place)}` })
    this.#compiled.set(pointer, made).set(text, made)
    return made
  }

  #operationOf({ method, target }: SentRequest): Place | undefined {
    const path = this.#pathOf(target)
    const name = method === 'HEAD' ? 'get' : method.toLowerCase()
    if (path === undefined || path.place.value[name] === undefined || !METHODS.includes(name)) return undefined
    return this.#at(`${path.place.pointer}/${name}`)
  }

  #pathOf(target: string): DocumentedPath | undefined {
    return this.#pathsOf(target)[0]
  }

  /** The paths that match, those with fewer parameters first (OpenAPI 3.1 section 4.8.8.2). */
  #pathsOf(target: string): readonly DocumentedPath[] {
    const sent = segmentsOf(target)
    if (sent === undefined) return []
    const matching = this.#paths.filter(
      ({ segments }) =>
        segments.length === sent.length &&
        segments.every((segment, at) => (isParameter(segment) ? sent[at] !== '' : segment === sent[at]))
    )
    const count = ({ segments }: DocumentedPath): number => segments.filter(isParameter).length
    return matching.toSorted((one, other) => count(one) - count(other))
  }

  /** The part at the pointer, behind its references. */
  #at(pointer: string): Place {
    let value: unknown = this.#document
    let place = ''
    for (const step of pointer.split('/').slice(1)) {
      value = (value as Json)[step.replaceAll('~1', '/').replaceAll('~0', '~')]
      place += `/${step}`
      const reference = (value as Json | undefined)?.['$ref']
      if (typeof reference === 'string') ({ pointer: place, value } = this.#at(reference.slice(1)))
    }
    if (typeof value !== 'object' || value === null) throw new Error(`There is nothing at ${pointer}.`)
    return { pointer: place, value: value as Json }
  }

  #all({ pointer, value }: Place, member: string): Place[] {
    return ((value[member] ?? []) as readonly unknown[]).map((_, at) => this.#at(`${pointer}/${member}/${at}`))
  }

  #members({ pointer, value }: Place, member: string): (readonly [string, Place])[] {
    const names = Object.keys(value[member] ?? {})
    return names.map((name) => [name, this.#at(`${pointer}/${member}/${escaped(name)}`)] as const)
  }
}

function escaped(step: string): string {
  return step.replaceAll('~', '~0').replaceAll('/', '~1')
}

/** The methods of a path as `Allow` lists them. */
function methodsAt({ segments, place }: DocumentedPath): readonly string[] {
  const methods = METHODS.filter((method) => place.value[method] !== undefined)
  const isExport = segments.at(-1) === 'export'
  const heads = methods.includes('get') && !isExport ? ['HEAD'] : []
  return [...methods.map((method) => method.toUpperCase()), ...heads, 'OPTIONS']
}

function isParameter(segment: string): boolean {
  return segment.startsWith('{')
}

function needsToken({ security }: Json): boolean {
  const ways = security as readonly Json[]
  return ways.length > 0 && ways.every((way) => way['bearer'] !== undefined)
}

/** The media type without its parameters. */
function essence(contentType: string | undefined): string | undefined {
  return contentType?.split(';')[0]?.trim().toLowerCase()
}

function parsed(text: string): { readonly json: unknown } | undefined {
  try {
    return { json: JSON.parse(text) as unknown }
  } catch {
    return undefined
  }
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/** The decoded segments of the path; undefined where one cannot be decoded. */
function segmentsOf(target: string): readonly string[] | undefined {
  const [path = ''] = target.split('?', 1)
  const segments = path.split('/').slice(1).map(decoded)
  return segments.every((one) => one !== undefined) ? segments : undefined
}

/**
 * The values of a query parameter, without halves of filters: the n-th operator belongs to the n-th value, and the service
 * ignores what has no other half, whatever it says.
 */
function valuesOf(query: ReadonlyMap<string, readonly string[]>, name: string): readonly string[] | undefined {
  const [, filter, part] = /^(filters\[.+\])\.(operator|value)$/.exec(name) ?? []
  const given = query.get(name)
  if (filter === undefined) return given
  const others = query.get(`${filter}.${part === 'operator' ? 'value' : 'operator'}`) ?? []
  return given?.slice(0, others.length)
}

function segmentOf(path: DocumentedPath | undefined, target: string, name: string): string {
  const at = path?.segments.indexOf(`{${name}}`) ?? -1
  return segmentsOf(target)?.[at] ?? ''
}

/** The values of each parameter by its name in lower case; undefined where one cannot be decoded. */
function queryOf(target: string): ReadonlyMap<string, readonly string[]> | undefined {
  const at = target.indexOf('?')
  const pairs = at === -1 ? [] : target.slice(at + 1).split('&')
  const values = new Map<string, string[]>()
  for (const pair of pairs.filter((one) => one !== '')) {
    const equals = pair.includes('=') ? pair.indexOf('=') : pair.length
    const name = decoded(pair.slice(0, equals).replaceAll('+', ' '))?.toLowerCase()
    const value = decoded(pair.slice(equals + 1).replaceAll('+', ' '))
    if (name === undefined || value === undefined) return undefined
    values.set(name, [...(values.get(name) ?? []), value])
  }
  return values
}
