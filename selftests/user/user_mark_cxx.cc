// SPDX-License-Identifier: GPL-2.0
/* No test, but the program in C++ whose markers user_mark looks at. */
#include <string>

#include <etch/mark.h>

enum colour { RED, GREEN = 7 };
enum class scoped : short { LESS = -2 };

struct thing {
	const char *name;
	unsigned int bits : 3;

	void method()
	{
		etch_mark("method", this->name, bits);
	}
};

template <class T> static void templated(T x)
{
	etch_mark("templated", x, sizeof(T));
}

inline void inlined(int x)
{
	etch_mark("inlined", x);
}

static void integers()
{
	const int c = -1;
	volatile bool b = true;
	char ch = 'A';
	unsigned int u = 4000000000U;
	long long ll = -1LL << 40;
	colour e = GREEN;
	scoped sc = scoped::LESS;

	etch_mark("integers", c, b, ch, u, ll, e, sc);
}

static void strings(const char *none)
{
	char text[8] = "text", full[4] = { 'f', 'u', 'l', 'l' };
	std::string s = "std";

	etch_mark("strings", text, full, s, none, nullptr);
}

int main()
{
	thing thing = { "method", 5 };
	int in = -1;
	auto lambda = [&](int q) { etch_mark("lambda", q, in); };

	thing.method();
	integers();
	strings(NULL);
	templated(3);
	templated(4L);
	inlined(5);
	lambda(6);
	etch_mark("bare");
	return etch_mark_error();
}
