import type { Plant } from './plant.js'

/** Each breaks one promise. They are small, as the mistakes are that nobody sees in a review. */
export const PLANTS: readonly Plant[] = [
  {
    name: 'key-without-caller',
    mistake: 'The key of a stored answer is made of method, path and Idempotency-Key, and the caller was left out.',
    checker: 'CreatedOnce',
    workloads: ['creates'],
    process: 'data-service',
    module: 'data-service/rpc/idempotent-write.js',
    find: '[caller.issuer, caller.subject, at.method, at.path, key]',
    replace: '[at.method, at.path, key]'
  },
  {
    name: 'short-key-hash',
    mistake: 'The hash of a key was cut to save space in the index, so that two keys may have the same one.',
    checker: 'CreatedOnce',
    workloads: ['creates'],
    process: 'data-service',
    module: 'data-service/rpc/idempotent-write.js',
    find: 'keyHash: sha256(JSON.stringify([caller.issuer, caller.subject, at.method, at.path, key])),',
    replace:
      'keyHash: Buffer.alloc(32, sha256(JSON.stringify([caller.issuer, caller.subject, at.method, at.path, key])).subarray(0, 1)),'
  },
  {
    name: 'answer-stored-after-commit',
    mistake:
      'The answer of a keyed write is stored after the COMMIT in place of in it, to make the transaction shorter.',
    checker: 'CreatedOnce',
    workloads: ['creates'],
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
    workloads: ['creates'],
    process: 'data-service',
    module: 'data-service/rpc/idempotent-write.js',
    find: '{ ...withoutWithheld(answer, parsed), replayed:',
    replace: '{ ...withoutWithheld(answer, parsed), rowVersion: Buffer.alloc(0), replayed:'
  },
  {
    name: 'entry-of-the-same-moment-left-out',
    mistake: 'An audit entry with the time of the one before is taken for the same one, after a retry, and left out.',
    checker: 'OneChain',
    workloads: ['counters'],
    process: 'data-service',
    module: 'data-service/sql/own-rows/audit-entries.js',
    find: 'return (await session.change(this.#insertAfterChange, this.#values(entry))).rows > 0;',
    replace: `const isRepeated = AuditEntries.latest === entry.at;
        AuditEntries.latest = entry.at;
        return isRepeated || (await session.change(this.#insertAfterChange, this.#values(entry))).rows > 0;`
  },
  {
    name: 'delete-without-entry',
    mistake: 'Creates and updates write their audit entry, and the delete was forgotten.',
    checker: 'OneChain',
    workloads: ['counters'],
    process: 'data-service',
    module: 'data-service/rpc/writes.js',
    find: "await steps.audit(resource.entity, key, 'delete');",
    replace: ''
  },
  {
    name: 'read-kept-by-a-gateway',
    mistake: 'A gateway keeps rows for 200 ms to spare the data service, and learns nothing of the writes of others.',
    checker: 'FreshReads',
    workloads: ['counters'],
    process: 'gateway',
    module: 'gateway/entity-routes/reads.js',
    find: 'const { record } = await data.get(',
    replace: `const kept = (globalThis.keptRecords ??= new Map());
        const name = request.headers.authorization + request.url;
        const get = async (context, message) => {
            const known = kept.get(name);
            if (known !== undefined && performance.now() < known.until) return known.answer;
            const answer = await data.get(context, message);
            kept.set(name, { answer, until: performance.now() + 200 });
            return answer;
        };
        const { record } = await get(`
  },
  {
    name: 'export-without-scope',
    mistake:
      'The statement of an export has the filters of its request, and the rows that its caller may see were left out.',
    checker: 'OwnRowsOnly',
    workloads: ['owners'],
    process: 'data-service',
    module: 'data-service/sql/entity-rows/exports.js',
    find: 'const conditions = [...plan.conditions, ...scopeConditions(scope)];',
    replace: 'const conditions = [...plan.conditions];'
  },
  {
    name: 'snapshot-for-each-batch',
    mistake: 'Each batch of an export is read in a transaction of its own, so that none lasts for long.',
    checker: 'OneMoment',
    workloads: ['counters', 'exports'],
    process: 'data-service',
    module: 'data-service/sql/entity-rows/exports.js',
    find: 'const snapshot = await open(AbortSignal.any([signal, leaving.signal]));',
    replace: `const first = await open(AbortSignal.any([signal, leaving.signal]));
    const { batch } = first;
    await first.close();
    const each = async (...of) => {
        const own = await open(AbortSignal.any([signal, leaving.signal]));
        try { await own.each(...of); }
        finally { await own.close(); }
    };
    const snapshot = { batch, each, close: async () => undefined };`
  },
  {
    name: 'export-ends-with-a-full-batch',
    mistake: 'A comparison is off by one, and the first full batch of an export is taken for the last one.',
    checker: 'OneMoment',
    workloads: ['counters', 'exports'],
    process: 'data-service',
    module: 'data-service/sql/entity-rows/exports.js',
    find: 'const isLast = truncated || found < limit;',
    replace: 'const isLast = truncated || found <= limit;'
  },
  {
    name: 'version-of-the-clock',
    mistake: 'The next version is the time in tenths of a second, and two updates within one of them have the same.',
    checker: 'OneChain',
    workloads: ['counters'],
    process: 'data-service',
    module: 'data-service/sql/engines/sqlite/sqlite-connection.js',
    find: '=> nextRowVersion(bytes(version))',
    replace: `=> {
            const next = nextRowVersion(bytes(version));
            next.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 100)));
            return next;
        }`
  },
  {
    name: 'logout-of-the-cookie-alone',
    mistake: 'A condition is the wrong way round: a logout takes the cookies away and leaves the session alive.',
    checker: 'SessionsEndOnce',
    workloads: ['sessions'],
    process: 'data-service',
    module: 'data-service/auth/sessions.js',
    find: 'if (family.revokedAt === null)\n                    await unit.revokeFamily',
    replace: 'if (family.revokedAt !== null)\n                    await unit.revokeFamily'
  },
  {
    name: 'grace-makes-new-tokens',
    mistake: 'A token that is used again within its grace is answered with a further token, not with the newest one.',
    checker: 'SessionsEndOnce',
    workloads: ['sessions'],
    process: 'data-service',
    module: 'data-service/auth/sessions.js',
    find: 'return session.isNewest\n',
    replace: 'return session.newest\n'
  },
  {
    name: 'delete-keeps-the-stock',
    mistake: 'The delete of an order that stands was taken for one that has no stock to put back.',
    checker: 'StockAddsUp',
    workloads: ['stock'],
    process: 'data-service',
    module: 'examples/store/entities/orders.js',
    find: "(status === 'placed' ? putBack(lines, tools) : {})",
    replace: "(status === 'paid' ? putBack(lines, tools) : {})"
  },
  {
    name: 'first-of-several-rows',
    mistake: 'Of the other rows that a rule changes with its own, the first one alone is written.',
    checker: 'StockAddsUp',
    workloads: ['stock'],
    process: 'data-service',
    module: 'data-service/rpc/write-effects.js',
    find: 'for (const one of update)\n',
    replace: 'for (const one of update.slice(0, 1))\n'
  },
  {
    name: 'cause-in-a-conflict',
    mistake: 'The detail of a conflict says what caused it, for whoever looks for a mistake.',
    checker: 'AllowedAnswers',
    workloads: ['counters'],
    process: 'data-service',
    module: 'data-service/rpc/write-effects.js',
    find: "return new DomainError('conflict', DETAIL, {",
    replace: "return new DomainError('conflict', `UPDATE rows SET row_version matched none: ${cause}`, {"
  }
]
