import type { Plant } from './plant.js'

/** The stored answer of a keyed write is its last change. */
const LAST_CHANGE_AFTER_COMMIT: Pick<Plant, 'module' | 'find' | 'replace'> = {
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
}

/** Of writes: something is lost, done twice, or done in part. */
export const PLANTED_WRITES: readonly Plant[] = [
  {
    name: 'key-without-caller',
    mistake: 'The key of a stored answer is made of method, path and Idempotency-Key, and the caller was left out.',
    checker: 'CreatedOnce',
    workloads: ['creates'],
    process: 'data-service',
    module: 'data-service/operations/writes/stored-answers.js',
    find: '[caller.issuer, caller.subject, at.method, at.path, key]',
    replace: '[at.method, at.path, key]'
  },
  {
    name: 'short-key-hash',
    mistake: 'The hash of a key was cut to save space in the index, so that two keys may have the same one.',
    checker: 'CreatedOnce',
    workloads: ['creates'],
    process: 'data-service',
    module: 'data-service/operations/writes/stored-answers.js',
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
    ...LAST_CHANGE_AFTER_COMMIT
  },
  {
    name: 'import-part-under-another-key',
    mistake:
      'The key of a part of an import is made of something that differs when the file is sent again, and the part is created once more.',
    checker: 'ImportedOnce',
    workloads: ['imports'],
    process: 'data-service',
    module: 'data-service/operations/writes/import.js',
    find: 'path: `${pathOfImport(parsed)}/${firstRow + start}`,',
    replace: 'path: `${pathOfImport(parsed)}/${firstRow + start}/${Date.now()}`,'
  },
  {
    name: 'import-claim-after-commit',
    mistake: 'That a part of an import is done is stored after the COMMIT of its rows, and not in their transaction.',
    checker: 'ImportedOnce',
    workloads: ['imports'],
    process: 'data-service',
    ...LAST_CHANGE_AFTER_COMMIT
  },
  {
    name: 'batch-in-parts',
    mistake: 'A batch of changes goes on behind a row that cannot be written, and its other rows stay.',
    checker: 'ImportedOnce',
    workloads: ['imports'],
    process: 'data-service',
    module: 'data-service/operations/writes/change-batches.js',
    find: 'await write(item, steps);',
    replace: 'await write(item, steps).catch(() => undefined);'
  },
  {
    name: 'tool-without-its-key',
    mistake: 'The tool that creates a row takes an idempotencyKey, and its request goes without one.',
    checker: 'CreatedOnce',
    workloads: ['agents'],
    process: 'gateway',
    module: 'gateway/mcp/tools.js',
    find: "headers: { 'idempotency-key': idempotencyKey },",
    replace: 'headers: {},'
  },
  {
    name: 'tool-that-tries-again',
    mistake:
      'A tool that meets a conflict reads the row and writes on the version that it has now, to spare the agent the trouble.',
    checker: 'OneChain',
    workloads: ['agents'],
    process: 'gateway',
    module: 'gateway/mcp/tool-calls.js',
    find: 'if (status >= 300)\n',
    replace: `if (status === 412 && sent.id !== undefined) {
        const { authorization, requestId } = caller;
        const read = { method: 'GET', url: prefix + '/' + resource + '/' + sent.id, headers: { authorization, 'x-request-id': requestId } };
        const { rowVersion } = JSON.parse((await inject(dispatch, read)).body);
        if (rowVersion !== undefined)
            return callTool({ app, inject, catalogue, prefix }, { tool, sent: { ...sent, rowVersion } }, caller);
    }
    if (status >= 300)\n`
  },
  {
    name: 'event-id-of-the-attempt',
    mistake: 'Each attempt of a delivery has an id of its own, so that its receiver cannot know what it has taken.',
    checker: 'DeliveredInOrder',
    workloads: ['stock'],
    process: 'data-service',
    module: 'data-service/outbox/webhook-delivery.js',
    find: 'async handle({ id, resource, rowId, payload, occurredAt }, { signal }) {',
    replace: `async handle({ resource, rowId, payload, occurredAt }, { signal }) {
            const id = crypto.randomUUID();`
  },
  {
    name: 'later-event-first',
    mistake: 'An event that failed waits for its next attempt, and the later events of its row do not wait for it.',
    checker: 'DeliveredInOrder',
    workloads: ['stock'],
    process: 'data-service',
    module: 'data-service/sql/own-rows/outbox.js',
    find: "'WHERE e.aggregate_key = o.aggregate_key AND e.id < o.id) ORDER BY due_at, id LIMIT $limit'",
    replace: "'WHERE e.aggregate_key = o.aggregate_key AND e.id < 0) ORDER BY due_at, id LIMIT $limit'"
  },
  {
    name: 'failed-delivery-taken-for-done',
    mistake: 'Whatever a webhook answers says that it has taken the event, an error of its own too.',
    checker: 'DeliveredInOrder',
    workloads: ['stock'],
    process: 'data-service',
    module: 'data-service/outbox/webhook-delivery.js',
    find: 'if (status >= 200 && status <= 299)\n',
    replace: 'if (status >= 200)\n'
  },
  {
    name: 'replay-without-version',
    mistake: 'A replay is made of the stored body alone, without the version for its ETag.',
    checker: 'CreatedOnce',
    workloads: ['creates'],
    process: 'data-service',
    module: 'data-service/operations/writes/write.js',
    find: '{ ...answer, replayed: ownResponse',
    replace: '{ ...answer, rowVersion: Buffer.alloc(0), replayed: ownResponse'
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
    module: 'data-service/operations/writes/delete.js',
    find: "await steps.audit(entity, key, { action: 'delete', changes: changesOf(entity, before, undefined) });",
    replace: ''
  },
  {
    name: 'version-as-a-number',
    mistake: 'The version of If-Match is read as a number, and a double holds 53 bits of its 64.',
    checker: 'RefusalsHaveReasons',
    workloads: ['counters'],
    process: 'gateway',
    module: 'gateway/http/preconditions.js',
    find: "return text === '' ? undefined : decodeBase64(text);",
    replace: `const bytes = text === '' ? undefined : decodeBase64(text);
    if (bytes?.length === 8)
        bytes.writeBigUInt64BE(BigInt.asUintN(64, BigInt(Number(bytes.readBigUInt64BE()))));
    return bytes;`
  },
  {
    name: 'version-of-the-clock',
    mistake: 'The next version is the time in seconds, and two updates within one of them have the same.',
    checker: 'OneChain',
    workloads: ['counters'],
    process: 'data-service',
    module: 'data-service/sql/engines/sqlite/sqlite-connection.js',
    find: '=> nextRowVersion(versionBytes(version))',
    replace: `=> {
            const next = nextRowVersion(versionBytes(version));
            next.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 1000)));
            return next;
        }`
  },
  {
    name: 'key-by-the-text-of-its-body',
    mistake: 'Whether a retry has the same body is told by its text, in which its members may be in another order.',
    checker: 'CreatedOnce',
    workloads: ['creates'],
    process: 'data-service',
    module: 'data-service/plan/write-requests.js',
    find: "const canonicalBody = key === undefined ? '' : canonicalJson(body);",
    replace: "const canonicalBody = key === undefined ? '' : JSON.stringify(body);"
  },
  {
    name: 'create-without-entry',
    mistake:
      'A row that comes with children has no audit entry: that of its root was left to whoever writes the children.',
    checker: 'CreatedOnce',
    workloads: ['owners'],
    process: 'data-service',
    module: 'data-service/operations/writes/write-steps.js',
    find: "await this.audit(entity, key, { action: 'create', changes });",
    replace: ''
  },
  {
    name: 'price-of-the-product',
    mistake:
      'A line has the price of its product in place of that of its variant, and the totals are those of the lines.',
    checker: 'StockAddsUp',
    workloads: ['stock'],
    process: 'data-service',
    module: 'examples/store/entities/order-parts.js',
    find: "const unitPrice = textOf(variant ?? product, 'price');",
    replace: "const unitPrice = textOf(product, 'price');"
  },
  {
    name: 'payment-without-its-state',
    mistake: 'An order that is paid has the time of its payment and stays as it was.',
    checker: 'StockAddsUp',
    workloads: ['stock'],
    process: 'data-service',
    module: 'examples/store/entities/orders.js',
    find: "becomes: { status: 'paid' },",
    replace: "becomes: { status: 'placed' },"
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
    module: 'data-service/operations/writes/effects.js',
    find: 'for (const one of update)\n',
    replace: 'for (const one of update.slice(0, 1))\n'
  },
  {
    name: 'version-without-carry',
    mistake:
      'The last byte of a version is counted up by itself, and the carry was forgotten: 00ff is followed by 0000.',
    checker: 'OneChain',
    workloads: ['saves'],
    process: 'data-service',
    module: 'data-service/sql/engines/sqlite/sqlite-connection.js',
    find: '=> nextRowVersion(versionBytes(version))',
    replace: `=> {
            const next = versionBytes(version);
            next[7] = (next[7] + 1) % 256;
            return next;
        }`
  },
  {
    name: 'version-compared-before',
    mistake:
      'The version is compared with that of a SELECT without a lock, and the UPDATE after it has the id alone as its condition.',
    checker: 'OneChain',
    workloads: ['counters'],
    // SQLite has one writer at a time, from the first statement of its transaction on.
    database: 'mariadb',
    process: 'data-service',
    module: 'data-service/sql/entity-rows/writes.js',
    find: 'unit = new SqlUnitOfWork(transaction, { parts, request });',
    replace: `unit = new SqlUnitOfWork(transaction, { parts, request });
                    const lock = unit.lock.bind(unit);
                    const update = unit.update.bind(unit);
                    unit.lock = async (plan) => {
                        if (plan.children.length > 0) return lock(plan);
                        const row = await unit.look(plan);
                        return row && { values: row.values, version: row.version, children: new Map() };
                    };
                    unit.update = (plan) => update(plan.values.size === 0 ? plan : { ...plan, expected: 'unconditional' });`
  },
  {
    name: 'write-sent-again-by-the-gateway',
    mistake: 'A gateway sends a write once more, as it does with reads, when the connection broke before the answer.',
    checker: 'CreatedOnce',
    workloads: ['creates'],
    faults: ['cut before the answer to a call that writes'],
    process: 'gateway',
    module: 'gateway/data/calls.js',
    find: 'return callWithRetries(pool, unary, 0);',
    replace: 'return callWithRetries(pool, unary, 1);'
  },
  {
    name: 'work-again-after-an-unknown-commit',
    mistake: 'A transaction whose COMMIT had no answer is run again, without a key that would show that it was done.',
    checker: 'OneChain',
    workloads: ['counters'],
    faults: ['cut before the answer to COMMIT, data-service-0 to the database'],
    database: 'mariadb',
    process: 'data-service',
    module: 'data-service/sql/transactions.js',
    find: 'const isSafe = !attempt.isCommitting || work.isRepeatable();',
    replace: 'const isSafe = true;'
  },
  {
    name: 'checked-out-again',
    mistake: 'The rule of a checkout does not look whether the cart has become an order already.',
    checker: 'StockAddsUp',
    workloads: ['stock'],
    process: 'data-service',
    module: 'examples/store/entities/shopping-carts.js',
    find: 'if (orderNumber !== null) {',
    replace: "if (orderNumber === '') {"
  },
  {
    name: 'children-after-the-commit',
    mistake: 'The children of a new row are written in a transaction of their own, after that of their root.',
    checker: 'StockAddsUp',
    workloads: ['stock'],
    faults: ['cut before a statement, data-service-0 to the database'],
    database: 'mariadb',
    process: 'data-service',
    module: 'data-service/sql/entity-rows/writes.js',
    find: 'unit = new SqlUnitOfWork(transaction, { parts, request });',
    replace: `unit = new SqlUnitOfWork(transaction, { parts, request });
                    const insert = unit.insert.bind(unit);
                    const commit = transaction.commit.bind(transaction);
                    const later = [];
                    unit.insert = async (plan) => {
                        const key = await insert({ ...plan, children: [] });
                        later.push(...plan.children.map((one) => ({ ...one, key })));
                        return key;
                    };
                    transaction.commit = async () => {
                        await commit();
                        const run = async (own) => {
                            for (const { children, rows, key } of later) {
                                const owned = rows.map((row) => ({ ...row, values: withRootKey(children, row.values, key) }));
                                await parts.writer.insertAll(own, children, owned);
                            }
                        };
                        if (later.length > 0) await runTransaction({ ...options, tries: 1 }, signal, { run, isRepeatable: () => false });
                    };`
  }
]
