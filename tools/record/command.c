// SPDX-License-Identifier: GPL-2.0
/*
 * The command that runs while records are taken, and the signals that end both.
 *
 * The child is made first, and waits: it begins when all else is ready, so no record is of
 * the time between.
 */
#include "record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- Signals ---- */

/* Those that are to be waited for. nohup has SIGHUP ignored, and that is to hold. */
void signals_that_end(sigset_t *set)
{
	struct sigaction hangup;

	sigemptyset(set);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGTERM);
	if (sigaction(SIGHUP, NULL, &hangup) || hangup.sa_handler != SIG_IGN)
		sigaddset(set, SIGHUP);
}

int command_open(struct command *c, char **words)
{
	sigset_t set;

	*c = (struct command){ .words = words, .go = -1, .failed = -1 };
	open_many_files(&c->files);
	signals_that_end(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	/* The parent may have left SIGCHLD ignored; then no status could be waited for. */
	signal(SIGCHLD, SIG_DFL);
	signal(SIGPIPE, SIG_IGN);
	c->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return c->signals < 0 ? fail("no signalfd: %m") : 0;
}

/* A signal from the terminal has reached the command by itself. */
static void pass_on_signal(const struct command *c, const struct signalfd_siginfo *info)
{
	if (c->pid && info->ssi_code != SI_KERNEL)
		kill(c->pid, info->ssi_signo);
}

bool command_is_over(struct command *c)
{
	struct signalfd_siginfo info;

	while (read(c->signals, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo != SIGCHLD) {
			pass_on_signal(c, &info);
			return true;
		}
		if (command_ended(c))
			return true;
	}
	return false;
}

static const char *abort_text;

static void abort_at_once(int sig)
{
	(void)!write(STDERR_FILENO, abort_text, strlen(abort_text));
	_exit(EXIT_SIGNAL + sig);
}

void command_signals_abort(const char *text)
{
	struct sigaction action = { .sa_handler = abort_at_once };
	sigset_t set;

	abort_text = text;
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

/* ---- The command ---- */

/* Each CPU takes six. */
void open_many_files(struct rlimit *before)
{
	struct rlimit many;

	if (getrlimit(RLIMIT_NOFILE, before))
		return;
	many = *before;
	many.rlim_cur = many.rlim_max;
	setrlimit(RLIMIT_NOFILE, &many);
}

/* Records of the process from before execvp() shall have the command's name, and not ours. */
static void take_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	prctl(PR_SET_NAME, slash ? slash + 1 : path);
}

static void __attribute__((noreturn)) run_command(const struct command *c, int go, int failed)
{
	sigset_t none;
	char byte;

	take_name(*c->words);
	/* Nobody says so if the recording cannot begin. */
	if (read(go, &byte, 1) != 1)
		_exit(EXIT_FAILED);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	setrlimit(RLIMIT_NOFILE, &c->files);
	execvp(*c->words, c->words);
	(void)!write(failed, &errno, sizeof(errno));
	_exit(EXIT_NO_COMMAND);
}

int command_prepare(struct command *c)
{
	int go[2], failed[2];

	if (!c->words)
		return 0;
	if (pipe2(go, O_CLOEXEC) || pipe2(failed, O_CLOEXEC))
		return fail("no pipe: %m");
	c->pid = fork();
	if (c->pid < 0) {
		c->pid = 0;
		return fail("no process for the command: %m");
	}
	if (!c->pid) {
		close(go[1]);
		run_command(c, go[0], failed[1]);
	}
	close(go[0]);
	close(failed[1]);
	c->go = go[1];
	c->failed = failed[0];
	return 0;
}

int command_start(struct command *c)
{
	int err, go = c->go;

	if (!c->words)
		return 0;
	c->go = -1;
	if (write(go, "", 1) != 1)
		return fail("%s has gone before it began", *c->words);
	/* Nothing comes, and the end of the file, once it runs. */
	if (read_all(c->failed, &err, sizeof(err)) <= 0)
		return 0;
	waitpid(c->pid, NULL, 0);
	c->pid = 0;
	c->status = EXIT_NO_COMMAND;
	errno = err;
	return fail("%s cannot be run: %m", *c->words);
}

bool command_ended(struct command *c)
{
	int status;

	if (!c->pid || waitpid(c->pid, &status, WNOHANG) != c->pid)
		return false;
	c->pid = 0;
	c->status = WIFSIGNALED(status) ? EXIT_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
	return true;
}

void command_leave(struct command *c)
{
	if (c->go >= 0)
		close(c->go);
	if (!c->pid)
		return;
	if (c->go >= 0)
		waitpid(c->pid, NULL, 0);
	else if (!command_ended(c))
		say("%s still runs, as process %d", *c->words, c->pid);
}
