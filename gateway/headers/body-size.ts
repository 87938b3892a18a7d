import { checkBodyLength } from '../../shared/body-limit.js'

/** Throws `body.too-large` on a body that announces more, before any of it is read. */
export function checkBodySize(contentLength: string | undefined): void {
  if (contentLength !== undefined) checkBodyLength(Number(contentLength))
}
