import { isIP } from 'node:net'
import { isWebhook, type OutboxTarget, type TextOrSetting, typeForWebhook } from '../entity/event.js'
import { isPublicAddress } from '../../shared/ip-address.js'
import type { SettingsReader } from '../../shared/settings.js'

/** A webhook with its settings. */
export interface WebhookTarget {
  readonly name: string
  /** Names of its events by the types under which they are stored for it. */
  readonly types: ReadonlyMap<string, string>
  readonly url: URL
  /** One, or two while the receiver changes from one to the other. */
  readonly keys: readonly Buffer[]
}

/** What a sentence calls a text, and the text. */
type Named = readonly [what: string, text: string | undefined]

/** The webhooks of an application whose URL is set. URLs and secrets are never printed: both may give access. */
export function readWebhooks(
  reader: SettingsReader<string>,
  { outbox, privateNetworks }: { readonly outbox: readonly OutboxTarget[]; readonly privateNetworks: boolean }
): readonly WebhookTarget[] {
  const named = (from: TextOrSetting, what: string): Named =>
    typeof from === 'string' ? [what, from] : [from.setting, reader.issuedSecret(from.setting)]
  const parsed = <Value>([what, text]: Named, parse: (text: string) => Value | Error): Value | undefined => {
    const value = text === undefined ? new Error('must be set too') : parse(text)
    if (!(value instanceof Error)) return value
    reader.addProblem(`${what} ${value.message}.`)
    return undefined
  }
  return outbox.filter(isWebhook).flatMap((webhook) => {
    const { name, events } = webhook
    const address = named(webhook.url, `\`url\` of the webhook \`${name}\``)
    const secret = named(webhook.secret, `\`secret\` of the webhook \`${name}\``)
    if (address[1] === undefined) return []
    const url = parsed(address, (text) => parseUrl(text, privateNetworks))
    const keys = parsed(secret, parseSecrets)
    if (url === undefined || keys === undefined) return []
    return [{ name, types: new Map(events.map((event) => [typeForWebhook(event.name, name), event.name])), url, keys }]
  })
}

function parseUrl(text: string, privateNetworks: boolean): URL | Error {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !['https:', 'http:'].includes(url.protocol) || url.username !== '' || url.password !== '') {
    return new Error('must be an https: URL without user name and password')
  }
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const isOutside = url.protocol === 'https:' && (isIP(host) === 0 || isPublicAddress(host))
  return isOutside || privateNetworks
    ? url
    : new Error('must be an https: URL that leads to a public address, unless WEBHOOK_PRIVATE_NETWORKS is true')
}

/** Bytes of a secret, as Standard Webhooks say. */
const [FEWEST_BYTES, MOST_BYTES] = [24, 64]

function parseSecrets(text: string): readonly Buffer[] | Error {
  const secrets = text.split(' ')
  const keys = secrets.map((one) => Buffer.from(one.slice('whsec_'.length), 'base64'))
  const areSound = keys.every(
    (key, at) =>
      // `Buffer.from` alone takes nearly anything.
      secrets[at] === `whsec_${key.toString('base64')}` && key.length >= FEWEST_BYTES && key.length <= MOST_BYTES
  )
  return areSound && keys.length <= 2
    ? keys
    : new Error(
        `must be \`whsec_\` and ${FEWEST_BYTES} to ${MOST_BYTES} bytes in base64, or two of these with a space between them`
      )
}
