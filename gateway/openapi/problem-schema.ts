import { ERROR_CODES } from '../../shared/error-code.js'

/** RFC 9457 with the members of contract.md section 7. */
export const PROBLEM_SCHEMA = {
  type: 'object',
  required: ['type', 'title', 'status', 'detail', 'instance', 'code', 'requestId'],
  properties: {
    type: { type: 'string', format: 'uri', description: 'Leads to a page that explains the code.' },
    title: { type: 'string' },
    status: { type: 'integer', minimum: 400, maximum: 599 },
    detail: { type: 'string' },
    instance: { type: 'string', description: 'The path of the request.' },
    code: { type: 'string', enum: ERROR_CODES },
    requestId: { type: 'string' },
    errors: {
      type: 'array',
      description: 'Every fault, where there are several.',
      items: {
        type: 'object',
        required: ['code', 'detail'],
        properties: {
          code: { type: 'string', enum: ERROR_CODES },
          detail: { type: 'string' },
          parameter: { type: 'string' },
          pointer: { type: 'string', description: 'A JSON pointer into the body.' },
          header: { type: 'string' }
        }
      }
    }
  }
} as const
