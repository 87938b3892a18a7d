const FIELD = /(?:^|&)(_csrf=[^&]*)/

/** The first `_csrf` of a form as browsers post it (application/x-www-form-urlencoded), from the start of its bytes. */
export function antiforgeryFieldIn(form: Buffer): string | undefined {
  // Only the one field is decoded: a body of nothing but ampersands would make a million.
  const [, pair] = FIELD.exec(form.toString('latin1')) ?? []
  return new URLSearchParams(pair ?? '').get('_csrf') ?? undefined
}

/** Whether a form's bytes can be read here. */
export function isPlainForm({ type, encoding }: { type: string | undefined; encoding: string | undefined }): boolean {
  const isForm = /^application\/x-www-form-urlencoded[\t ]*(?:;|$)/i.test(type ?? '')
  return isForm && /^(?:identity)?$/i.test(encoding ?? '')
}
