import { createRequire } from 'node:module'
import type * as ajv2020 from 'ajv/dist/2020.js'
import type { ValidateFunction } from 'ajv/dist/2020.js'
import type * as ajvFormats from 'ajv-formats'

const require = createRequire(import.meta.url)

/** A JSON schema, draft 2020-12, which is that of OpenAPI 3.1. */
export type JsonSchema = Readonly<Record<string, unknown>>

const compiled = new WeakMap<JsonSchema, ValidateFunction>()

/** What a JSON text must be and is not, as the end of a sentence with "must"; undefined for a text that meets the schema. */
export function schemaViolation(text: string, schema: JsonSchema): string | undefined {
  const validate = validatorOf(schema)
  if (validate(JSON.parse(text))) return undefined
  const [error] = validate.errors ?? []
  const { instancePath = '', message = 'be of another form' } = error ?? {}
  // Ajv's messages complete "must" as well.
  const rule = message.replace(/^must /, '')
  return instancePath === '' ? rule : `meet its schema: ${instancePath} must ${rule}`
}

/** Throws an Error that says what is wrong with a schema. */
export function validatorOf(schema: JsonSchema): ValidateFunction {
  const known = compiled.get(schema)
  if (known !== undefined) return known
  // Loaded here, since few applications have a schema and loading takes a twentieth of a start.
  const { Ajv2020 } = require('ajv/dist/2020.js') as typeof ajv2020
  const { default: addFormats } = require('ajv-formats') as typeof ajvFormats
  const ajv = new Ajv2020()
  addFormats.default(ajv)
  const validate = ajv.compile(schema)
  compiled.set(schema, validate)
  return validate
}
