# syntax=docker/dockerfile:1
FROM node:24.21.0-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# Runtime packages only; no package needs its install script to run.
RUN npm ci --omit=dev --ignore-scripts

FROM node:24.21.0-slim
LABEL org.opencontainers.image.title="Petstore Gateway" org.opencontainers.image.licenses=MIT
WORKDIR /app
ENV NODE_ENV=production HOST=:: PORT=4000
COPY --from=dependencies /app/node_modules ./node_modules
COPY package.json start.js cli.js schema.graphql LICENSE ./
COPY migrations ./migrations
COPY src ./src
COPY deploy/backup.js deploy/restore.js ./deploy/
# They come with the modes of the checkout, which under umask 077 are its owner's only.
RUN chmod -R a+rX package.json start.js cli.js schema.graphql LICENSE migrations src deploy
# The commit, if it is given: --version, the metrics and the pages tell it.
ARG REVISION=
LABEL org.opencontainers.image.revision=$REVISION
RUN [ -z "$REVISION" ] || echo "$REVISION" > src/gateway/revision.txt
# Where the embedded store would be, for who sets no DATABASE_URL: the only place that the process may write to.
RUN mkdir --mode=0700 data && chown node:node data
USER node
# With ADMIN_PORT, that one too: the probes and /metrics are there, and not at PORT.
EXPOSE 4000
# Readiness: a gateway that waits for its database is unhealthy and goes on by itself; Docker restarts nothing for that. It is
# asked where its own settings say, without the proxies of NODE_USE_ENV_PROXY.
HEALTHCHECK --interval=10s --timeout=5s --start-period=120s \
  CMD ["node", "-e", "Promise.all([import('./src/gateway/config.ts'), import('./src/gateway/dot-env.ts')]).then(([{ readConfig }, { loadDotEnv }]) => { loadDotEnv(process.env); const { host, port, adminPort = port } = readConfig(); require('http').get({ host: host.replace(/^(::|0\\.0\\.0\\.0)$/, '127.0.0.1'), port: adminPort, path: '/readyz', agent: false }, ({ statusCode }) => process.exit(statusCode === 200 ? 0 : 1)).on('error', () => process.exit(1)); })"]
# The exec form: node hears SIGTERM itself. As process 1, without `docker run --init`, only once it has read its settings.
# It starts no processes that it does not wait for.
CMD ["node", "--max-semi-space-size=32", "start.js"]
