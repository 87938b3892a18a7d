import { loadOptional } from '../../shared/optional-package.js'
import { isLoopback } from '../../shared/ip-address.js'
import type { SettingsReader } from '../../shared/settings.js'
import { type EventHandler, type LinkPurpose, oneTimeLink, onEvent } from '../entity/event.js'

// Sends one-time links by SMTP. Texts hold nothing that whoever asked has written, or the service would send their words to
// anybody. Errors are stored and logged: they hold neither the answer of the server, which may name the recipient, nor a link.

/** The settings SMTP_URL and SMTP_FROM. */
export interface MailSettings {
  readonly host: string
  readonly port: number
  /** TLS from the beginning. Else it comes by STARTTLS, without which no mail is sent but to this machine itself. */
  readonly secure: boolean
  readonly auth: { readonly user: string; readonly pass: string } | undefined
  readonly from: string
}

/** undefined: no mail is sent. The URL is never printed, since it holds a password. */
export function readMail(reader: SettingsReader): MailSettings | undefined {
  const text = reader.issuedSecret('SMTP_URL')
  const from = reader.optionalText('SMTP_FROM')
  if (text === undefined) {
    if (from !== undefined) reader.addProblem('SMTP_FROM is of use only with SMTP_URL.')
    return undefined
  }
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isKnown =
    url !== undefined && ['smtp:', 'smtps:'].includes(url.protocol) && url.hostname !== '' && url.port !== '0'
  if (!isKnown || url.search !== '' || url.hash !== '' || url.pathname.length > 1) {
    reader.addProblem('SMTP_URL must be smtps://<user>:<password>@<host>, or smtp:// for a server with STARTTLS.')
    return undefined
  }
  if (from === undefined || !isMailable(from)) {
    reader.addProblem('SMTP_FROM must be an e-mail address, from which SMTP_URL sends.')
    return undefined
  }
  const [user, pass] = [decoded(url.username), decoded(url.password)]
  if (user === undefined || pass === undefined || (user === '' && pass !== '')) {
    reader.addProblem('SMTP_URL must have user name and password, percent-encoded, or neither.')
    return undefined
  }
  const secure = url.protocol === 'smtps:'
  const port = url.port === '' ? (secure ? 465 : 587) : Number(url.port)
  const host = url.hostname.replace(/^\[|\]$/g, '')
  return { host, port, secure, auth: user === '' ? undefined : { user, pass }, from }
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/**
 * Characters that need no quotation marks in an address (RFC 5322 section 3.2.3), beside letters of other scripts. Others could
 * make one address two, or another one.
 */
const MAILABLE = /^[^\s"(),:;<>@[\\\]\p{Cc}\p{Cf}]+@[^\s"(),:;<>@[\\\]\p{Cc}\p{Cf}]+$/u

function isMailable(address: string): boolean {
  return MAILABLE.test(address)
}

/** Milliseconds without an answer of the server. A delivery has OUTBOX_HANDLER_TIMEOUT in all. */
const SERVER_TIMEOUT = 10_000

/** The handler of one-time links. Throws a StartError where nodemailer is not installed. */
export async function mailHandler({ from, auth, ...server }: MailSettings): Promise<EventHandler> {
  const of = { neededBy: 'SMTP_URL', packages: ['nodemailer'] }
  const { createTransport } = await loadOptional(of, () => import('nodemailer'))
  const transport = createTransport({
    ...server,
    ...(auth === undefined ? {} : { auth }),
    requireTLS: !server.secure && !isLoopback(server.host),
    // Such a server offers STARTTLS with a certificate that it has signed itself.
    ignoreTLS: isLoopback(server.host),
    connectionTimeout: SERVER_TIMEOUT,
    greetingTimeout: SERVER_TIMEOUT,
    socketTimeout: SERVER_TIMEOUT,
    dnsTimeout: SERVER_TIMEOUT,
    disableFileAccess: true,
    disableUrlAccess: true
  })
  return onEvent(oneTimeLink, async ({ id, payload: { purpose, email, url, expiresAt } }, { log, signal }) => {
    if (!isMailable(email)) {
      log.warn('the address of an account is none that mail is sent to')
      return
    }
    const { subject, opening } = WORDS[purpose]
    const until = `${expiresAt.slice(0, 16).replace('T', ' ')} UTC`
    const text =
      `${opening}\n\n${url}\n\nThe link can be used once, until ${until}. Do not pass it on: whoever has it can choose the ` +
      'password.\n\nIf you did not ask for this, do nothing: nothing changes then.\n'
    const mail = {
      from: { name: '', address: from },
      to: { name: '', address: email },
      envelope: { from, to: [email] },
      messageId: `<${id}@${from.slice(from.indexOf('@') + 1)}>`,
      // So that no program answers the mail (RFC 3834).
      headers: { 'Auto-Submitted': 'auto-generated' },
      subject,
      text,
      // Without it a mail would go on beside its repetition.
      signal
    }
    await transport.sendMail(mail).catch((error: unknown) => {
      if (isRefused(error))
        return log.warn({ answer: codesOf(error) }, 'the mail server does not take mails for an address')
      throw new Error(`The mail server did not take a mail: ${codesOf(error)}`)
    })
  })
}

const WORDS: Readonly<Record<LinkPurpose, { readonly subject: string; readonly opening: string }>> = {
  invitation: {
    subject: 'Choose the password of your account',
    opening: 'There is an account for you. Choose its password with this link:'
  },
  'forgotten-password': {
    subject: 'Choose another password',
    opening: 'Somebody, probably you, asked for another password of your account. Choose it with this link:'
  },
  'sign-up': {
    subject: 'Confirm your address',
    opening: 'Somebody, probably you, signed up with this address. Make the account with this link:'
  },
  'account-exists': {
    subject: 'You have an account already',
    opening:
      'Somebody, probably you, signed up with this address, which has an account already. If you have forgotten its ' +
      'password, choose another one with this link:'
  }
}

/** Whether the server has said that it will never take this mail (RFC 5321 section 4.2.1). A log-in may succeed later. */
function isRefused(error: unknown): boolean {
  const { code, responseCode } = error as { readonly code?: unknown; readonly responseCode?: unknown }
  return (code === 'EENVELOPE' || code === 'EMESSAGE') && typeof responseCode === 'number' && responseCode >= 500
}

/** As nodemailer names the kind of the error, and the code of the server's answer. */
function codesOf(error: unknown): string {
  const { code, responseCode } = error as { readonly code?: unknown; readonly responseCode?: unknown }
  return [code, responseCode].filter((one) => typeof one === 'string' || typeof one === 'number').join(' ') || 'unknown'
}
