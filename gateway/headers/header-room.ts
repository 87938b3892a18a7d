/** Of an answer's own headers, `Set-Cookie` aside: clients and proxies take no more (contract.md section 2, Sizes). */
const MAX_BYTES = 8 * 1024

/** For what is set later: the type and length of the body, `Date`, `Connection`, what security and CORS add. */
const RESERVED = 1024

/** Bytes that one more header may have, beside those that an answer has already. */
export function headerRoom(headers: Readonly<Record<string, number | string | string[] | undefined>>): number {
  let room = MAX_BYTES - RESERVED
  for (const [name, value] of Object.entries(headers)) {
    if (name === 'set-cookie' || value === undefined) continue
    for (const line of [value].flat()) room -= name.length + String(line).length + ': \r\n'.length
  }
  return room
}
