/** Bytes. Metadata, key sets and tokens of an issuer are a few thousand. */
const MAX_ISSUER_BYTES = 256 * 1024

/**
 * Reads the body of an issuer's answer, decompressed. Rejects as soon as it is larger than 256 KiB, and ends the connection
 * then: an issuer that sends without end would fill the memory of this process.
 */
export async function boundedText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  const body: AsyncIterable<Uint8Array> | Iterable<Uint8Array> = response.body ?? []
  for await (const chunk of body) {
    size += chunk.length
    if (size > MAX_ISSUER_BYTES) {
      throw Object.assign(new Error(`the answer is larger than ${MAX_ISSUER_BYTES} bytes`), {
        code: 'ANSWER_TOO_LARGE'
      })
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
