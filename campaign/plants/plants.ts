import type { Plant } from './plant.js'

/** Faults in writes, of which each breaks one promise. */
export const PLANTS: readonly Plant[] = [
  {
    name: 'key-without-caller',
    mistake: 'The key of a stored answer is made of method, path and Idempotency-Key, and the caller was left out.',
    checker: 'CreatedOnce',
    workload: 'creates',
    process: 'data-service',
    module: 'data-service/rpc/idempotent-write.js',
    find: '[caller.issuer, caller.subject, at.method, at.path, key]',
    replace: '[at.method, at.path, key]'
  },
  {
    name: 'short-key-hash',
    mistake: 'The hash of a key was cut to save space in the index, so that two keys may have the same one.',
    checker: 'CreatedOnce',
    workload: 'creates',
    process: 'data-service',
    module: 'data-service/rpc/idempotent-write.js',
    find: 'keyHash: sha256(JSON.stringify([caller.issuer, caller.subject, at.method, at.path, key])),',
    replace:
      'keyHash: Buffer.alloc(32, sha256(JSON.stringify([caller.issuer, caller.subject, at.method, at.path, key])).subarray(0, 1)),'
  },
  {
    name: 'answer-stored-after-commit',
    mistake: 'The answer of a keyed write is stored after the COMMIT in place of in it, to make the transaction shorter.',
    checker: 'CreatedOnce',
    workload: 'creates',
    process: 'data-service',
    module: 'data-service/sql/transactions.js',
    find: 'await (await this.#opening)?.commit(this.#lastChange);',
    replace: `await (await this.#opening)?.commit();
        const later = this.#lastChange;
        if (later !== undefined) {
            const store = async () => {
                const own = await this.#transactions.begin({ signal: new AbortController().signal, timeout: 1500 });
                await own.change(later.text, later.values);
                await own.commit();
            };
            setTimeout(() => store().catch(() => undefined), 50);
        }`
  },
  {
    name: 'replay-without-version',
    mistake: 'A replay is made of the stored body alone, without the version for its ETag.',
    checker: 'CreatedOnce',
    workload: 'creates',
    process: 'data-service',
    module: 'data-service/rpc/idempotent-write.js',
    find: '{ ...withoutWithheld(answer, parsed), replayed: true }',
    replace: '{ ...withoutWithheld(answer, parsed), rowVersion: Buffer.alloc(0), replayed: true }'
  }
]
