// The process that the conformance kit starts for a scenario. The client itself runs in the process at the port.
const { request } = require('node:http');

const [port, url] = process.argv.slice(2);
const {
  MCP_CONFORMANCE_SCENARIO: scenario = '',
  MCP_CONFORMANCE_CONTEXT: context = '{}',
  MCP_CONFORMANCE_PROTOCOL_VERSION: version = '',
} = process.env;

const call = request({ port, host: '127.0.0.1', method: 'POST' }, async (reply) => {
  const chunks = [];
  for await (const chunk of reply) chunks.push(chunk);
  const { code, text } = JSON.parse(Buffer.concat(chunks).toString());
  process[code === 0 ? 'stdout' : 'stderr'].write(text);
  process.exitCode = code;
});
// An error ends this process with a code other than 0.
call.end(JSON.stringify({ url, scenario, context, version }));
