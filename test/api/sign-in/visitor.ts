import { type Answer, call, type CallOptions } from '../http-call.js'

/** A browser without scripts: it keeps the cookies of each origin, path and all, and follows no redirect by itself. */
export class Visitor {
  readonly #jar = new Map<string, { readonly value: string; readonly path: string }>()

  async send(url: string, options: CallOptions = {}): Promise<Answer> {
    const { origin, pathname, search } = new URL(url)
    const cookie = this.#cookiesFor(origin, pathname)
    const headers = { ...(cookie === '' ? {} : { cookie }), ...options.headers }
    const answer = await call(origin, pathname + search, { ...options, headers })
    for (const line of answer.headers['set-cookie'] ?? []) this.#keep(origin, line)
    return answer
  }

  /** The value of a cookie; undefined for none. */
  cookie(origin: string, name: string): string | undefined {
    return this.#jar.get(`${origin} ${name}`)?.value
  }

  setCookie(origin: string, name: string, value: string): void {
    this.#jar.set(`${origin} ${name}`, { value, path: '/' })
  }

  /** Logs in and consents at the provider's pages. Resolves with the URL of the callback, which it does not open. */
  async signInAt(provider: string, authorizationUrl: string, person: string): Promise<string> {
    let answer = await this.send(authorizationUrl)
    for (let step = 0; step < 12; step += 1) {
      const { location } = answer.headers
      if (location !== undefined) {
        const next = new URL(location, provider)
        if (next.origin !== provider) return next.href
        answer = await this.send(next.href)
        continue
      }
      const [, action] = /<form[^>]* action="([^"]+)"/.exec(answer.text) ?? []
      const [, prompt] = /name="prompt" value="(\w+)"/.exec(answer.text) ?? []
      if (action === undefined || prompt === undefined) throw new Error(`no form: ${answer.status} ${answer.text}`)
      answer = await this.send(new URL(action, provider).href, {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams({ prompt, login: person, password: 'any' }).toString()
      })
    }
    throw new Error('The provider never led back')
  }

  #cookiesFor(origin: string, pathname: string): string {
    return [...this.#jar]
      .filter(([key, { path }]) => key.startsWith(`${origin} `) && pathname.startsWith(path))
      .map(([key, { value }]) => `${key.slice(origin.length + 1)}=${value}`)
      .join('; ')
  }

  #keep(origin: string, line: string): void {
    const [pair = '', ...attributes] = line.split(/; */)
    const [name = '', ...value] = pair.split('=')
    const of = (wanted: string): string | undefined =>
      attributes.find((one) => one.toLowerCase().startsWith(`${wanted}=`))?.slice(wanted.length + 1)
    const expires = of('expires')
    const isOver = of('max-age') === '0' || (expires !== undefined && Date.parse(expires) < Date.now())
    if (isOver) this.#jar.delete(`${origin} ${name}`)
    else this.#jar.set(`${origin} ${name}`, { value: value.join('='), path: of('path') ?? '/' })
  }
}
