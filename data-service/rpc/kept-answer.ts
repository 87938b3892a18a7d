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

/** An answer as it is stored under its key, with the owner claim of the caller who got it; it comes back to the byte. */
export function encodeAnswer({ json, rowVersion, id, ignored, location }: WriteAnswer, owner: bigint | null): Buffer {
  const parts = [json.toString('utf8'), rowVersion.toString('base64'), id, ignored, location, claimText(owner)]
  return Buffer.from(JSON.stringify(parts))
}

export interface StoredAnswer {
  readonly answer: WriteAnswer
  /** Whether the answer may go to a caller with this owner claim: the one of the first caller. */
  isFor(owner: bigint | null): boolean
}

export function decodeAnswer(stored: Buffer): StoredAnswer {
  // Nothing but encodeAnswer writes these. Earlier versions wrote no owner, and such an answer is for any.
  const parts = JSON.parse(stored.toString('utf8')) as [string, string, string, string[], string, (string | null)?]
  const [json, rowVersion, id, ignored, location, first] = parts
  return {
    answer: { json: Buffer.from(json, 'utf8'), rowVersion: Buffer.from(rowVersion, 'base64'), id, ignored, location },
    isFor: (owner) => first === undefined || first === claimText(owner)
  }
}

/** Of 64 bits, which a JSON number would not hold. */
function claimText(owner: bigint | null): string | null {
  return owner === null ? null : String(owner)
}
