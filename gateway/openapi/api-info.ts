import type { SettingsReader } from '../../shared/settings.js'

/** What the OpenAPI document says of the API as a whole: its `info` and `servers`, as the settings `OPENAPI_*` have them. */
export interface ApiInfo {
  readonly title: string
  readonly version: string
  readonly license?: { readonly name: string; readonly url?: string; readonly identifier?: string }
  readonly contact?: { readonly name?: string; readonly url?: string; readonly email?: string }
  /** Base URLs; empty for that of the service itself. */
  readonly servers: readonly string[]
}

export const NO_INFO: ApiInfo = { title: 'Entity REST service', version: '1.0', servers: [] }

export function readApiInfo(settings: SettingsReader): ApiInfo {
  const license = settings.parsed('OPENAPI_LICENSE', { fallback: '', parse: parseLicense })
  const contact = settings.parsed('OPENAPI_CONTACT', { fallback: '', parse: parseContact })
  return {
    title: settings.text('OPENAPI_TITLE', NO_INFO.title),
    version: settings.text('OPENAPI_VERSION', NO_INFO.version),
    ...(license === undefined ? {} : { license }),
    ...(contact === undefined ? {} : { contact }),
    servers: settings.parsed('OPENAPI_SERVERS', { fallback: '', parse: parseServers })
  }
}

/** `Name <target>`, or one of the two. */
function nameAndTarget(text: string): readonly [name: string, target: string] {
  const from = text.endsWith('>') ? text.lastIndexOf('<') : -1
  return from === -1 ? [text.trim(), ''] : [text.slice(0, from).trim(), text.slice(from + 1, -1).trim()]
}

/** The Error's message completes the sentence "OPENAPI_LICENSE …". */
function parseLicense(text: string): ApiInfo['license'] | Error {
  if (text === '') return undefined
  const [name, url] = nameAndTarget(text)
  if (url !== '') return name !== '' && isHttpUrl(url) ? { name, url } : new Error(LICENSE)
  return /^[A-Za-z0-9.+-]{1,64}$/.test(name) ? { name, identifier: name } : new Error(LICENSE)
}

const LICENSE =
  'must be an SPDX identifier such as Apache-2.0, or a name with a URL: Our terms <https://example.com/terms>'

/** The Error's message completes the sentence "OPENAPI_CONTACT …". */
function parseContact(text: string): ApiInfo['contact'] | Error {
  if (text === '') return undefined
  const [before, inside] = nameAndTarget(text)
  const [name, target] = inside === '' ? ['', before] : [before, inside]
  const named = name === '' ? {} : { name }
  if (isHttpUrl(target)) return { ...named, url: target }
  if (/^[^\s@<>]+@[^\s@<>]+$/.test(target)) return { ...named, email: target }
  return new Error('must be an address or a URL, with a name before it if you like: The API team <api@example.com>')
}

/** The Error's message completes the sentence "OPENAPI_SERVERS …". */
function parseServers(text: string): readonly string[] | Error {
  const urls = text.split(',').flatMap((one) => (one.trim() === '' ? [] : [one.trim().replace(/\/$/, '')]))
  return urls.every(isHttpUrl) ? urls : new Error('must be http: or https: URLs with commas between')
}

function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && ['http:', 'https:'].includes(new URL(text).protocol)
}
