import type { Plant } from './plant.js'

/** Each breaks one promise. They are small, as the mistakes are that nobody sees in a review. */
export const PLANTS: readonly Plant[] = [
  {
    name: 'answer-stored-after-commit',
    mistake:
      'The answer of a keyed write is stored after the COMMIT in place of in it, to make the transaction shorter.',
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
