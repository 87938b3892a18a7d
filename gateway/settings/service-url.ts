type Scheme = 'file:' | 'http:' | 'https:'

/**
 * The URL of a service behind the gateway, in one of the schemes. Plain http is taken from the loopback besides, for
 * emulators. The Error's message completes the sentence "NAME …".
 */
export function parseServiceUrl(text: string, schemes: readonly Scheme[]): string | Error {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const accepted = url !== undefined && (schemes.some((one) => one === url.protocol) || isLoopbackHttp(url))
  return accepted ? text : new Error(`must be a URL that starts with ${schemes.join(' or ')}`)
}

function isLoopbackHttp(url: URL): boolean {
  return url.protocol === 'http:' && ['127.0.0.1', '[::1]', 'localhost'].includes(url.hostname)
}
