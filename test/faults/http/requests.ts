import { METHODS } from 'node:http'
import type { Random } from '../fuzz.js'

const JSON_BODY = '{"name":"x","sku":"y"}'
const FORM = 'a=1&_csrf=x&b=2'

function request(line: string, headers: readonly string[] = [], body = ''): string {
  return [`${line} HTTP/1.1`, 'Host: x', ...headers, '', body].join('\r\n')
}

function post(target: string, type: string, body: string): string {
  return request(`POST ${target}`, [`Content-Type: ${type}`, `Content-Length: ${body.length}`], body)
}

function chunked(target: string, ...chunks: readonly string[]): string {
  const pieces = [...chunks, ''].map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`)
  return request(`POST ${target}`, ['Content-Type: application/json', 'Transfer-Encoding: chunked'], pieces.join(''))
}

/** Well-formed requests, which are cut off at each byte: of the gateway's own, of entities, of pages. */
export const REQUESTS: readonly [string, ...string[]] = [
  request('GET /products/1', ['Authorization: Bearer x.y.z', 'X-Request-Id: a']),
  request('GET /products/paged?pageSize=2&filters[name].operator=contains&filters[name].value=a'),
  request('GET /products', ['Accept: text/html', 'Cookie: app_auth_refresh=x; app_antiforgery=y']),
  post('/products', 'application/json', JSON_BODY),
  chunked('/products', JSON_BODY.slice(0, 5), JSON_BODY.slice(5)),
  request('PUT /products/1', ['If-Match: "AQ=="', 'Content-Type: application/json', 'Content-Length: 2'], '{}'),
  post('/x', 'application/x-www-form-urlencoded', FORM),
  request('POST /slow', ['Content-Type: text/plain', 'Expect: 100-continue', 'Content-Length: 3'], 'abc'),
  request('GET /live', [
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: x'
  ]),
  request('CONNECT x:1')
]

/** More of them, for sequences. */
const MORE: readonly string[] = [
  request('GET /products/export'),
  request('GET /products/lookup?q=a'),
  request('GET /openapi.json'),
  request('GET /docs'),
  request('GET /health'),
  request('GET /problems/conflict'),
  request('GET /auth/antiforgery'),
  request('POST /auth/session/token', ['Content-Length: 0']),
  request('DELETE /auth/session-cookie'),
  request('GET /slow'),
  request('GET /large'),
  request('GET /broken'),
  request('GET /a../b'),
  request('OPTIONS *'),
  request('GET http://y/products/1'),
  request('GET /', ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAAP__']),
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0',
  '\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03',
  chunked('/x', 'a'.repeat(5000), 'b'),
  post('/large', 'application/octet-stream', 'z'.repeat(40_000)),
  post('/products', 'application/json', `{"name":"${'n'.repeat(30_000)}"}`),
  ...METHODS.flatMap((method) => [request(`${method} /products/1`), request(`${method} /cart`)])
]

const ALL: readonly [string, ...string[]] = [...REQUESTS, ...MORE]

/** Bytes that one client sends in one go or several, pipelined requests and pieces of such. */
export function sequence(random: Random): Buffer {
  const count = random.percent(60) ? 1 : 1 + random.below(8)
  const requests = Array.from({ length: count }, () => (random.percent(85) ? random.pick(ALL) : oddRequest(random)))
  let bytes: Buffer = Buffer.from(requests.join(''), 'latin1')
  const mutations = random.percent(65) ? 0 : 1 + random.below(4)
  for (let n = 0; n < mutations; n++) bytes = mutated(bytes, random)
  return random.percent(35) ? bytes.subarray(0, random.below(bytes.length + 1)) : bytes
}

function oddRequest(random: Random): string {
  const odd = random.pick(ODD_FRAMING)
  return odd[1]
}

const AWKWARD: readonly [string, ...string[]] = [
  '\r\n',
  '\n',
  '\r',
  '\0',
  ' ',
  '\t',
  ':',
  '%',
  '%00',
  '\xff',
  '..',
  '/',
  '\\',
  '0',
  '-1',
  'chunked',
  'Transfer-Encoding: chunked\r\n',
  'Content-Length: 5\r\n',
  'Connection: close\r\n',
  'Connection: X-Request-Id, Host\r\n',
  'Expect: 100-continue\r\n',
  'Upgrade: websocket\r\n',
  `X-Long: ${'x'.repeat(70_000)}\r\n`,
  'Cookie: =;;=a; app_auth_access=\xff\r\n',
  'Prefer: handling="\r\n'
]

function mutated(bytes: Buffer, random: Random): Buffer {
  const at = random.below(bytes.length + 1)
  const to = Math.min(bytes.length, at + random.below(20))
  const piece = bytes.subarray(at, to)
  const head = bytes.subarray(0, at)
  const inserted = Buffer.from(random.pick(AWKWARD), 'latin1')
  const ways: readonly [() => Buffer, ...(() => Buffer)[]] = [
    () => Buffer.concat([head, inserted, bytes.subarray(at)]),
    () => Buffer.concat([head, bytes.subarray(to)]),
    () => Buffer.concat([head, piece, piece, bytes.subarray(to)]),
    () => Buffer.concat([head, Buffer.from([random.below(256)]), bytes.subarray(at + 1)]),
    () => Buffer.from(bytes.toString('latin1').replaceAll('\r\n', '\n'), 'latin1')
  ]
  return random.pick(ways)()
}

const SMUGGLED = 'GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n'
const OF_ITS_LENGTH = `Content-Length: ${SMUGGLED.length}`

function odd(headers: readonly string[], body = `0\r\n\r\n${SMUGGLED}`, line = 'POST /framing'): string {
  return request(line, headers, body)
}

/** How a request is framed so that two readers could see two ends of it; none may become a second request. */
export const ODD_FRAMING: readonly [readonly [string, string], ...(readonly [string, string])[]] = [
  ['CL and TE', odd(['Content-Length: 5', 'Transfer-Encoding: chunked'])],
  ['TE and CL', odd(['Transfer-Encoding: chunked', 'Content-Length: 5'])],
  ['TE twice', odd(['Transfer-Encoding: chunked', 'Transfer-Encoding: identity'])],
  ['TE twice, identity first', odd(['Transfer-Encoding: identity', 'Transfer-Encoding: chunked', 'Content-Length: 3'])],
  ['TE list that does not end in chunked', odd(['Transfer-Encoding: chunked, identity'])],
  ['TE of chunked twice', odd(['Transfer-Encoding: chunked, chunked'])],
  ['TE: xchunked', odd(['Transfer-Encoding: xchunked'])],
  ['TE: chunked in quotes', odd(['Transfer-Encoding: "chunked"'])],
  ['TE with a vertical tab', odd(['Transfer-Encoding: \x0bchunked', 'Content-Length: 3'])],
  ['TE with a form feed', odd(['Transfer-Encoding: chunked\x0c', 'Content-Length: 3'])],
  ['TE with a NUL', odd(['Transfer-Encoding: chunked\0', 'Content-Length: 3'])],
  ['TE with a space before its colon', odd(['Transfer-Encoding : chunked', 'Content-Length: 3'])],
  ['TE with a tab before its colon', odd(['Transfer-Encoding\t: chunked', 'Content-Length: 3'])],
  ['TE behind a space', odd([' Transfer-Encoding: chunked', 'Content-Length: 3'])],
  ['TE folded', odd(['Transfer-Encoding:\r\n chunked', 'Content-Length: 3'])],
  ['TE folded into another', odd(['X: y\r\n Transfer-Encoding: chunked', OF_ITS_LENGTH], SMUGGLED)],
  ['TE behind a bare LF', odd(['X: y\nTransfer-Encoding: chunked', OF_ITS_LENGTH], SMUGGLED)],
  ['TE behind a bare CR', odd(['X: y\rTransfer-Encoding: chunked', OF_ITS_LENGTH], SMUGGLED)],
  ['TE with an underscore', odd(['Transfer_Encoding: chunked', OF_ITS_LENGTH], SMUGGLED)],
  ['TE of HTTP/1.0', odd(['Transfer-Encoding: chunked', 'Content-Length: 3']).replace('HTTP/1.1', 'HTTP/1.0')],
  ['CL twice, differing', odd(['Content-Length: 0', OF_ITS_LENGTH], SMUGGLED)],
  ['CL twice, the same', odd([OF_ITS_LENGTH, OF_ITS_LENGTH], SMUGGLED)],
  ['CL list', odd([`${OF_ITS_LENGTH}, ${SMUGGLED.length}`], SMUGGLED)],
  ['CL negative', odd(['Content-Length: -1'], SMUGGLED)],
  ['CL with a plus', odd([`Content-Length: +${SMUGGLED.length}`], SMUGGLED)],
  ['CL in hex', odd(['Content-Length: 0x5'], SMUGGLED)],
  ['CL with an underscore', odd(['Content-Length: 1_0'], SMUGGLED)],
  ['CL with a fraction', odd(['Content-Length: 5.0'], SMUGGLED)],
  ['CL with two numbers', odd(['Content-Length: 0 5'], SMUGGLED)],
  ['CL empty', odd(['Content-Length:'], SMUGGLED)],
  ['CL beyond 64 bits', odd(['Content-Length: 18446744073709551616'], SMUGGLED)],
  ['CL with a space before its colon', odd([`Content-Length : ${SMUGGLED.length}`], SMUGGLED)],
  ['CL with leading zeroes', odd([`Content-Length: 000${SMUGGLED.length}`], SMUGGLED)],
  ['CL behind a bare LF', odd([`X: y\n${OF_ITS_LENGTH}`], SMUGGLED)],
  ['CL behind a bare CR', odd([`X: y\r${OF_ITS_LENGTH}`], SMUGGLED)],
  ['CL on a GET', odd([OF_ITS_LENGTH], SMUGGLED, 'GET /framing')],
  ['CL on a HEAD', odd([OF_ITS_LENGTH], SMUGGLED, 'HEAD /framing')],
  ['TE on a GET', odd(['Transfer-Encoding: chunked'], '5\r\nabcde\r\n0\r\n\r\n', 'GET /framing')],
  ['a connection that names its own length', odd(['Connection: Content-Length', OF_ITS_LENGTH], SMUGGLED)],
  ['CL of an upgrade', odd(['Connection: Upgrade', 'Upgrade: websocket', OF_ITS_LENGTH], SMUGGLED, 'GET /framing')],
  ['CL of a CONNECT', odd([OF_ITS_LENGTH], SMUGGLED, 'CONNECT x:1')],
  ['CL of an expectation', odd(['Expect: 100-continue', OF_ITS_LENGTH], SMUGGLED)],
  ['CL of an unknown expectation', odd(['Expect: tea', OF_ITS_LENGTH], SMUGGLED)],
  ...(
    [
      ['size negative', '-1\r\n'],
      ['size with a plus', '+0\r\n\r\n'],
      ['size with 0x', '0x0\r\n\r\n'],
      ['size empty', '\r\n'],
      ['size no hex', 'g\r\n'],
      ['size beyond 64 bits', 'fffffffffffffffff\r\n'],
      ['size with an underscore', '0_0\r\n\r\n'],
      ['size behind a space', ' 0\r\n\r\n'],
      ['size before a space', '0 \r\n\r\n'],
      ['size with a NUL', '0\0\r\n\r\n'],
      ['size ended by LF', '0\n\r\n'],
      ['size ended by CR', '0\r\r\n'],
      ['data longer than its size', '1\r\nab\r\n0\r\n\r\n'],
      ['data shorter than its size', '5\r\nab\r\n0\r\n\r\n'],
      ['data ended by LF', '1\r\na\n0\r\n\r\n'],
      ['data ended by nothing', '1\r\na0\r\n\r\n'],
      ['extension with a bare LF', '1;a\nb\r\nc\r\n0\r\n\r\n'],
      ['extension with a bare CR', '1;a\rb\r\nc\r\n0\r\n\r\n'],
      ['extension of a quote', '1;a="\r\nb\r\n0\r\n\r\n'],
      ['extension of 20 KB', `1;${'a'.repeat(20_000)}\r\nb\r\n0\r\n\r\n`],
      ['last chunk ended by LF', '1\r\na\r\n0\n\n'],
      ['trailer that is a length', `0\r\n${OF_ITS_LENGTH}\r\n\r\n`],
      ['trailer without a colon', '0\r\nx\r\n\r\n'],
      ['trailer without end', `0\r\nX: ${'x'.repeat(300_000)}\r\n\r\n`]
    ] as const
  ).map(([why, body]) => [`chunk: ${why}`, odd(['Transfer-Encoding: chunked'], body + SMUGGLED)] as const)
]
