/** What a keyed write answers, first time and every time after. */
export interface WriteAnswer {
  readonly json: Buffer
  readonly rowVersion: Buffer
  /** As it stands in a path. */
  readonly id: string
  readonly ignored: readonly string[]
  /** Of a create; empty otherwise. */
  readonly location: string
}

/** An answer as it is stored under its key; it comes back to the byte. */
export function encodeAnswer({ json, rowVersion, id, ignored, location }: WriteAnswer): Buffer {
  return Buffer.from(JSON.stringify([json.toString('utf8'), rowVersion.toString('base64'), id, ignored, location]))
}

export function decodeAnswer(stored: Buffer): WriteAnswer {
  // Nothing but encodeAnswer writes these.
  const parts = JSON.parse(stored.toString('utf8')) as [string, string, string, string[], string]
  const [json, rowVersion, id, ignored, location] = parts
  return { json: Buffer.from(json, 'utf8'), rowVersion: Buffer.from(rowVersion, 'base64'), id, ignored, location }
}
