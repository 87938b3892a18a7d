import { DomainError } from '../../shared/domain-error.js'

/** The value of `api-supported-versions`. */
export const SUPPORTED_VERSIONS = '1.0'

/** Throws `version.unsupported` on anything but an absent header, `1` and `1.0`. */
export function checkApiVersion(header: string | string[] | undefined): void {
  if (header === undefined || header === '1' || header === '1.0') return
  throw new DomainError('version.unsupported', 'The header api-version must be 1 or 1.0, or left out.')
}
