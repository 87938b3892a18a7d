import { DomainError } from '../../shared/domain-error.js'

/** Bytes of a request body, contract.md section 2. */
export const MAX_BODY_BYTES = 1024 * 1024

/** Throws `body.too-large` on a body that announces more, before any of it is read. */
export function checkBodySize(contentLength: string | undefined): void {
  if (contentLength !== undefined && Number(contentLength) > MAX_BODY_BYTES) {
    throw new DomainError('body.too-large', 'The body is larger than 1 MiB.')
  }
}
