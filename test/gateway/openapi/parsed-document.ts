import { writtenDocument } from '../../../gateway/openapi/document.js'
import type { Json } from '../../harness/openapi-document.js'

/** The document as its readers parse it. */
export function openApiDocument(described: Parameters<typeof writtenDocument>[0], base: string): Json {
  const steps = writtenDocument(described, base)
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return JSON.parse(Buffer.concat(value).toString()) as Json
  }
}
