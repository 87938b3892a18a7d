import { expect } from 'chai'
import type { Shop } from './shop.js'

const SET_REFRESH = /^set-cookie: app_auth_refresh=([^;\r\n]+)[^\r\n]*\r?$/gim

/** Every refresh token that was ever handed out over the wire. */
export function refreshTokens(answers: string): Set<string> {
  return new Set(Array.from(answers.matchAll(SET_REFRESH), ([, token = '']) => token))
}

/**
 * Looks through all that browsers got and all that processes logged: a refresh token is in the header that sets its
 * cookie and nowhere else, and an answer that sets a cookie of ours is nobody else's.
 */
export function expectKeptSecrets(shop: Shop): void {
  const answers = shop.answers()
  const tokens = refreshTokens(answers)
  expect(tokens, 'refresh tokens on the wire').to.not.be.empty
  const besides = answers.replaceAll(SET_REFRESH, '')
  const logs = shop.logText()
  for (const token of tokens) {
    expect(besides.includes(token), 'a refresh token on the wire, besides its cookie').to.equal(false)
    expect(logs.includes(token), 'a refresh token in a log').to.equal(false)
  }
  const setting = headsOf(answers).filter((head) => /^set-cookie:/im.test(head))
  expect(setting).to.not.be.empty
  for (const head of setting) {
    expect(head).to.match(/^cache-control: private, no-store\r?$/im)
    expect(head).to.match(/^vary: (?:.*, )?Cookie(?:,.*)?\r?$/im)
  }
}

/** Of every answer, status line and headers; no two are the same, for each has an id. */
export function headsOf(answers: string): string[] {
  return answers.match(/HTTP\/1\.1 \d{3} [^\r\n]*\r\n[\s\S]*?\r\n\r\n/g) ?? []
}
