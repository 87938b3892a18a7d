/** Bytes. Metadata, key sets and tokens of an issuer, and a key ring, are a few thousand. */
const MAX_BYTES = 256 * 1024

/**
 * Reads the body of an answer, decompressed. Rejects as soon as it is larger than 256 KiB, and ends the connection
 * then: an issuer that sends without end would fill the memory of this process.
 */
export async function boundedText(answer: {
  readonly body: AsyncIterable<Uint8Array | string> | null
}): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const part of answer.body ?? []) {
    const chunk = Buffer.from(part)
    size += chunk.length
    if (size > MAX_BYTES) {
      throw Object.assign(new Error(`the answer is larger than ${MAX_BYTES} bytes`), {
        code: 'ANSWER_TOO_LARGE'
      })
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
