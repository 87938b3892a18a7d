import type { Resource } from '../data-calls.js'
import { valueSchema } from './property-schema.js'

/** One operation of the document and where it stands. */
export interface DocumentedOperation {
  readonly path: string
  readonly method: 'get' | 'post' | 'put' | 'delete'
  /** The operation object but for what all have: tags, id and security. */
  readonly document: {
    /** Words that the operation's id is made of. */
    readonly id: string
    readonly summary: string
    readonly description?: string
    readonly parameters: readonly object[]
    readonly requestBody?: object
    readonly responses: object
  }
}

/** The `{id}` of a path. */
export function idParameter({ properties }: Resource): object {
  const id = properties.find(({ name }) => name === 'id')
  return { name: 'id', in: 'path', required: true, schema: id === undefined ? { type: 'string' } : valueSchema(id) }
}
