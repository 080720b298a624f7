// Starts `zodiac lsp` for the folder that is open. All else is in the server.

const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

function made() {
  const settings = vscode.workspace.getConfiguration("zodiac");
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
  const server = { command: settings.get("command"), args: ["lsp"], options: { cwd: folder } };
  return new LanguageClient("zodiac", "zodiac_sql", server, {
    documentSelector: [{ language: "zodiac" }, { language: "shacl-rules" }],
    initializationOptions: { database: settings.get("database") },
  });
}

async function start() {
  client = made();
  try {
    await client.start();
  } catch (error) {
    const install = "pip install 'zodiac-sql[lsp]', or name the program in the setting zodiac.command";
    vscode.window.showErrorMessage(`zodiac lsp could not be started: ${error.message} (${install})`);
  }
}

async function stop() {
  const last = client;
  client = undefined;
  if (last?.isRunning()) await last.stop();
}

async function restart() {
  await stop();
  await start();
}

async function activate(context) {
  context.subscriptions.push(
    vscode.commands.registerCommand("zodiac.restart", restart),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration("zodiac")) return restart();
    }),
  );
  await start();
}

module.exports = { activate, deactivate: stop };
