import { mount } from "svelte";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/controls.css";
import "./styles/window.css";
import "./styles/pages.css";
import "./styles/conversation.css";
import "./styles/review.css";
import "./styles/code.css";
import "./styles/dialog.css";
import "./styles/narrow.css";
import Window from "./components/views/Window.svelte";
import { connect } from "./lib/backend";
import { App } from "./lib/state/app.svelte";
import "./lib/state/theme.svelte";

const app = new App(await connect());
mount(Window, { target: document.getElementById("app")!, props: { app } });
await app.start();
