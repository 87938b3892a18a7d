import type { Resource } from '../data-calls.js'
import { COMPONENT_HEADERS } from './headers.js'
import { resourcePaths } from './paths.js'
import { PROBLEM_SCHEMA } from './problem-schema.js'
import { resourceSchemas } from './schemas.js'

/** The contract of every resource as an OpenAPI 3.1 document. `base` is the public base URL. */
export function openApiDocument(resources: readonly Resource[], base: string): object {
  return {
    openapi: '3.1.1',
    info: {
      title: 'Entity REST service',
      version: '1.0',
      description:
        'Every resource has the same routes, parameters and answers. Names of query parameters match in any letter ' +
        'case. Unknown ones are ignored and named in `X-Ignored-Parameters`, or refused under ' +
        '`Prefer: handling=strict`. A parameter that is sent several times is its values joined by commas.'
    },
    servers: [{ url: base === '' ? '/' : base }],
    tags: resources.map(({ name, description }) => ({ name, description })),
    paths: Object.assign({}, ...resources.map(resourcePaths)) as object,
    components: {
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description: 'An access token. Cookies are no credential here.'
        }
      },
      schemas: { Problem: PROBLEM_SCHEMA, ...(Object.assign({}, ...resources.map(resourceSchemas)) as object) },
      headers: COMPONENT_HEADERS
    }
  }
}
